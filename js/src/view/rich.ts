import type { Rich } from "../core/debug_words.ts";
import type { Preview } from "../protocol/generated.ts";
import { html } from "./dom.ts";

/** Words of which some are bold or are keys, as nodes. */
export function richNodes(rich: Rich): (HTMLElement | string)[] {
  return rich.map((part) => (typeof part === "string" ? part : html(part.isKey ? "kbd" : "b", part.b)));
}

/** A value's preview in one line, with an ellipsis where there is more. */
export function previewText(value: Preview): string {
  return value.cut && !value.text.endsWith("…") ? `${value.text}…` : value.text;
}
