import { html } from "./dom.ts";
import { type IconName, icon } from "./glyph.ts";

/** A button that shows a sign and says its name and its key. */
export function iconButton(name: IconName, label: string, key = ""): HTMLButtonElement {
  return html("button", { type: "button", "aria-label": label, title: key ? `${label}  ${key}` : label }, icon(name));
}
