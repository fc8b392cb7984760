/** The inputs of a run, as fields made from the graph's schema; shown where there is no state yet, and on "Run". */

import { type Field, fieldsOf, valuesOf } from "../core/form.ts";
import { button, textField } from "../view/controls.ts";
import { debugIcon } from "../view/debug_icons.ts";
import { html } from "../view/dom.ts";
import type { Desk, PanelView } from "./desk.ts";

interface Entry {
  readonly field: Field;
  readonly read: () => string;
  readonly fault: HTMLElement;
  readonly control: HTMLElement;
}

export class InputForm {
  readonly element = html("form", { class: "inputs", "aria-label": "Inputs of the run" });
  private _entries: readonly Entry[] = [];
  private _made = "";
  private _touched = false;

  constructor(
    private readonly _desk: Desk,
    /** Called once the run has begun. */
    private readonly _done: () => void,
  ) {
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this._run();
    });
  }

  /** Made once for each schema, so that what was typed stays. */
  update({ state, snapshot }: PanelView): void {
    const key = JSON.stringify(state.input_schema);
    if (key === this._made) return;
    this._made = key;
    this._touched = false;
    this._entries = fieldsOf(state.input_schema).map((field) => this._entry(field));
    const words =
      this._entries.length === 0 ? `${snapshot.graph.name} takes no inputs.` : `Inputs of ${snapshot.graph.name}`;
    this.element.replaceChildren(
      html("div", { class: "cap" }, html("span", {}, words)),
      ...this._entries.map(({ field, control, fault }) => labelled(field, control, fault)),
      html(
        "div",
        { class: "form-buttons" },
        button("Run", () => void this._run(), { className: "outline", icon: debugIcon("resume") }),
      ),
    );
  }

  /** Begins the run if something was entered; else the reader is led to what can be. */
  proceed(): void {
    if (this._touched) void this._run();
    else this._focus();
  }

  private _focus(): void {
    (this._entries[0]?.control ?? this.element.querySelector("button"))?.focus();
  }

  private async _run(): Promise<void> {
    const typed = Object.fromEntries(this._entries.map(({ field, read }) => [field.key, read()]));
    const entered = valuesOf(
      this._entries.map(({ field }) => field),
      typed,
    );
    for (const { field, fault } of this._entries)
      fault.textContent = entered.ok ? "" : (entered.faults[field.key] ?? "");
    if (!entered.ok) return this._entries.find(({ field }) => field.key in entered.faults)?.control.focus();
    if (await this._desk.send({ type: "run", inputs: entered.values })) this._done();
  }

  private _entry(field: Field): Entry {
    const fault = html("span", { class: "verdict bad", role: "status" });
    const control = this._control(field);
    control.addEventListener("input", () => {
      this._touched = true;
      fault.textContent = "";
    });
    const read = () => {
      if (control instanceof HTMLInputElement)
        return control.type === "checkbox" ? String(control.checked) : control.value;
      return control.value;
    };
    return { field, control, fault, read };
  }

  private _control(field: Field): HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement {
    const { kind, key, initial, choices, required } = field;
    if (kind === "choice") {
      const options = choices.map((choice) => html("option", { value: choice, selected: choice === initial }, choice));
      return html(
        "select",
        { class: "field", "aria-label": key },
        ...(required ? [] : [html("option", { value: "" }, "—")]),
        ...options,
      );
    }
    if (kind === "flag") return html("input", { type: "checkbox", "aria-label": key, checked: initial === "true" });
    if (kind === "number") {
      return html("input", {
        class: "field mono",
        inputmode: "decimal",
        "aria-label": key,
        value: initial,
        autocomplete: "off",
      });
    }
    const area = textField(initial, key, { enter: () => void this._run(), escape: () => area.blur() });
    return area;
  }
}

function labelled({ key, expects, required }: Field, control: HTMLElement, fault: HTMLElement): HTMLElement {
  const optional = required ? "" : expects === "" ? "optional" : ", optional";
  return html(
    "label",
    { class: "entry" },
    html("span", { class: "key mono" }, key, " ", html("span", { class: "dim" }, `${expects}${optional}`)),
    control,
    fault,
  );
}
