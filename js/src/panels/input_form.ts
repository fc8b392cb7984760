/** The inputs of a run, as fields made from the graph's schema; shown where there is no state yet, and on "Run". */

import { fieldsOf } from "../core/form.ts";
import { button } from "../view/controls.ts";
import { debugIcon } from "../view/debug_icons.ts";
import { html, on } from "../view/dom.ts";
import type { Desk, PanelView } from "./desk.ts";
import { FormFields } from "./form_fields.ts";

export class InputForm {
  readonly element = html("form.inputs", { "aria-label": "Inputs of the run" });
  private _fields = new FormFields([], () => {});
  private _made = "";

  constructor(
    private readonly _desk: Desk,
    /** Called once the run has begun. */
    private readonly _done: () => void,
  ) {
    on(this.element, "submit", (event) => {
      event.preventDefault();
      void this._run();
    });
  }

  /** Made once for each schema, so that what was typed stays. */
  update({ state, snapshot }: PanelView): void {
    const key = JSON.stringify(state.input_schema);
    if (key === this._made) return;
    this._made = key;
    const fields = fieldsOf(state.input_schema);
    this._fields = new FormFields(fields, () => void this._run());
    const words = fields.length === 0 ? `${snapshot.graph.name} takes no inputs.` : `Inputs of ${snapshot.graph.name}`;
    const run = button("Run", () => void this._run(), { className: "outline", icon: debugIcon("resume") });
    this.element.replaceChildren(
      html("div.cap", html("span", words)),
      ...this._fields.elements,
      html("div.form-buttons", run),
    );
  }

  /** Begins the run if something was entered; else the reader is led to what can be. */
  proceed(): void {
    if (this._fields.touched) void this._run();
    else if (!this._fields.focus()) this.element.querySelector("button")?.focus();
  }

  private async _run(): Promise<void> {
    const inputs = this._fields.values();
    if (inputs !== null && (await this._desk.send({ type: "run", inputs }))) this._done();
  }
}
