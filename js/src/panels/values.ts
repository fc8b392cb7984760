/** Rows of state keys and their values: a preview each, or the whole, folded where it is long. */

import { cut } from "../core/text.ts";
import type { Preview } from "../protocol/generated.ts";
import { html } from "../view/dom.ts";

const ONE_LINE_CHARS = 80;

/** Previews of a whole state. */
export function previewRows(values: Readonly<Record<string, Preview>>): HTMLElement {
  const rows = Object.entries(values).map(([key, value]) => {
    const text = value.cut && !value.text.endsWith("…") ? `${value.text}…` : value.text;
    return row(key, html("span.value", { title: `${value.kind}\n${value.text}` }, text));
  });
  return rows.length === 0 ? nothing("The state is empty.") : html("dl.values", ...rows.flat());
}

/** Whole values, folded where they are long. */
export function textRows(values: Readonly<Record<string, string>>): HTMLElement {
  const rows = Object.entries(values).map(([key, text]) => row(key, isLong(text) ? folded(text) : oneLine(text)));
  return rows.length === 0 ? nothing("Nothing.") : html("dl.values", ...rows.flat());
}

export function nothing(words: string): HTMLElement {
  return html("p.dim.nothing", words);
}

function row(key: string, value: HTMLElement): HTMLElement[] {
  return [html("dt.mono.cut", { title: key }, key), html("dd", value)];
}

function oneLine(text: string): HTMLElement {
  return html("span.value", text === "" ? "''" : text);
}

/** A long text behind its first line. */
export function folded(text: string): HTMLElement {
  const line = cut(text.slice(0, 4 * ONE_LINE_CHARS).replace(/\s+/g, " "), ONE_LINE_CHARS);
  const summary = html("summary.cut", line);
  return html("details.fold", summary, html("pre.mono", { tabindex: 0 }, text));
}

function isLong(text: string): boolean {
  return text.length > ONE_LINE_CHARS || text.includes("\n");
}
