/** Watch expressions at the foot of the state: each with its value at the shown point, and a field for one more. */

import type { WireWatch } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { html, on } from "../view/dom.ts";
import { icon } from "../view/glyph.ts";
import { Keyed, type Part } from "../view/keyed.ts";
import { previewText } from "../view/rich.ts";
import type { Desk, PanelView } from "./desk.ts";

export class WatchLine {
  readonly element: HTMLElement;
  private readonly _list = html("ul.watches");
  private readonly _rows = new Keyed(this._list);
  private readonly _field = html("input.field.mono", {
    placeholder: 'len(state["messages"])',
    "aria-label": "Expression to watch",
    spellcheck: "false",
    autocomplete: "off",
  });

  private readonly _adding = html("div.watch-add", html("span.dim", "Watch"), this._field);

  constructor(private readonly _desk: Desk) {
    on(this._field, "keydown", (event) => {
      if (event.key === "Enter") void this._add();
      if (event.key === "Escape") this._field.blur();
    });
    this.element = html("section.watch", { "aria-label": "Watches" }, this._list, this._adding);
  }

  update({ state, saved }: PanelView): void {
    this._rows.update(state.watches.map((watch) => this._part(watch, saved)));
    this._list.hidden = state.watches.length === 0;
    this._adding.hidden = saved;
  }

  private async _add(): Promise<void> {
    const text = this._field.value.trim();
    if (text === "") return;
    if (await this._desk.send({ type: "watch", text })) this._field.value = "";
  }

  private _part(watch: WireWatch, saved: boolean): Part {
    return { key: watch.text, version: JSON.stringify([watch, saved]), make: () => this._row(watch, saved) };
  }

  private _row({ text, value, error }: WireWatch, saved: boolean): HTMLElement {
    const drop = () => void this._desk.send({ type: "unwatch", text });
    return html(
      "li",
      html("span.mono.cut.expression", { title: text }, text),
      value === null
        ? html("span.bad.cut", { title: error }, error)
        : html("b.cut", { title: value.text }, previewText(value)),
      saved ? null : button("", drop, { name: `Stop watching ${text}`, icon: icon("close"), dataKey: `w ${text}` }),
    );
  }
}
