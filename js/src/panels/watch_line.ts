/** Watch expressions at the foot of the state: each with its value at the shown point, and a field for one more. */

import type { WireWatch } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { html } from "../view/dom.ts";
import { icon } from "../view/glyph.ts";
import { Keyed, type Part } from "../view/keyed.ts";
import { previewText } from "../view/rich.ts";
import type { Desk, PanelView } from "./desk.ts";

export class WatchLine {
  readonly element: HTMLElement;
  private readonly list = html("ul", { class: "watches" });
  private readonly rows = new Keyed(this.list);
  private readonly field = html("input", {
    class: "field mono",
    placeholder: 'len(state["messages"])',
    "aria-label": "Expression to watch",
    spellcheck: "false",
    autocomplete: "off",
  });

  private readonly adding = html("div", { class: "watch-add" }, html("span", { class: "dim" }, "Watch"), this.field);

  constructor(private readonly desk: Desk) {
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") void this.add();
      if (event.key === "Escape") this.field.blur();
    });
    this.element = html("section", { class: "watch", "aria-label": "Watches" }, this.list, this.adding);
  }

  update({ state, saved }: PanelView): void {
    this.rows.update(state.watches.map((watch) => this.part(watch, saved)));
    this.list.hidden = state.watches.length === 0;
    this.adding.hidden = saved;
  }

  private async add(): Promise<void> {
    const text = this.field.value.trim();
    if (text === "") return;
    if (await this.desk.send({ type: "watch", text })) this.field.value = "";
  }

  private part(watch: WireWatch, saved: boolean): Part {
    return { key: watch.text, version: JSON.stringify([watch, saved]), make: () => this.row(watch, saved) };
  }

  private row({ text, value, error }: WireWatch, saved: boolean): HTMLElement {
    const drop = () => void this.desk.send({ type: "unwatch", text });
    return html(
      "li",
      {},
      html("span", { class: "mono cut expression", title: text }, text),
      value === null
        ? html("span", { class: "bad cut", title: error }, error)
        : html("b", { class: "cut", title: value.text }, previewText(value)),
      saved ? null : button("", drop, { name: `Stop watching ${text}`, icon: icon("close"), dataKey: `w ${text}` }),
    );
  }
}
