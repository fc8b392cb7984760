/** All keys and signs on one sheet over the view, on `?`. */

import { KEY_SHEET } from "../core/debug_keys.ts";
import { button } from "../view/controls.ts";
import { breakpointIcon } from "../view/debug_icons.ts";
import { html } from "../view/dom.ts";
import { icon, stateIcon } from "../view/glyph.ts";
import { signSections } from "../view/legend.ts";

const BREAKPOINTS = { on: "breakpoint", if: "with condition", log: "only prints", off: "switched off" } as const;

export class HelpSheet {
  readonly element: HTMLElement;
  private _back: HTMLElement | null = null;

  constructor() {
    const groups = KEY_SHEET.map(([title, keys]) =>
      html(
        "section",
        html("h3", title),
        html("dl", ...keys.flatMap(([key, words]) => [html("dt", html("kbd", key)), html("dd", words)])),
      ),
    );
    const close = button("", () => this.close(), { name: "Close", key: "Esc", icon: icon("close") });
    const head = html("header", html("h2", "Keys"), html("span.dim", "while this view has the focus"), close);
    this.element = html(
      "div.help",
      { role: "dialog", "aria-label": "Keys and signs", hidden: true },
      head,
      html(
        "div.groups",
        ...groups,
        html("section.signs", ...signSections()),
        html("section.signs", html("h3", "Breakpoints and edits"), html("ul", ...breakpointItems())),
      ),
    );
  }

  toggle(): void {
    if (this.close()) return;
    this._back = document.activeElement as HTMLElement | null;
    this.element.hidden = false;
    this.element.querySelector("button")?.focus();
  }

  /** True if it was open. */
  close(): boolean {
    if (this.element.hidden) return false;
    this.element.hidden = true;
    this._back?.focus({ preventScroll: true });
    return true;
  }
}

function breakpointItems(): HTMLElement[] {
  const looks = Object.entries(BREAKPOINTS) as [keyof typeof BREAKPOINTS, string][];
  return [
    ...looks.map(([look, words]) => html("li", breakpointIcon(look), words)),
    html("li.edited", stateIcon("edited"), "edited or pinned"),
  ];
}
