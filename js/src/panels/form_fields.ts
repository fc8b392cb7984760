/** The fields of a form, with their faults beside them. */

import { type Field, valuesOf } from "../core/form.ts";
import { lookUp } from "../core/record.ts";
import { textField } from "../view/controls.ts";
import { html, on } from "../view/dom.ts";

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

interface Entry {
  readonly field: Field;
  readonly control: Control;
  readonly fault: HTMLElement;
}

export class FormFields {
  readonly elements: readonly HTMLElement[];
  /** Whether anything was entered. */
  touched = false;
  private readonly _entries: readonly Entry[];

  /** @param label What a field without a name is called aloud. */
  constructor(
    private readonly _fields: readonly Field[],
    private readonly _submit: () => void,
    private readonly _label = "",
  ) {
    this._entries = _fields.map((field) => this._entry(field));
    this.elements = this._entries.map(labelled);
  }

  /** The values that were entered; null if a field is wrong, which then says so and has the focus. */
  values(): Record<string, unknown> | null {
    const typed = Object.fromEntries(this._entries.map(({ field, control }) => [field.key, read(control)]));
    const entered = valuesOf(this._fields, typed);
    this.blame(entered.ok ? {} : entered.faults);
    return entered.ok ? entered.values : null;
  }

  /** Says what is wrong, by field; the first of them gets the focus. */
  blame(faults: Readonly<Record<string, string>>): void {
    for (const { field, control, fault } of this._entries) {
      fault.textContent = lookUp(faults, field.key) ?? "";
      control.setAttribute("aria-invalid", String(fault.textContent !== ""));
    }
    this._entries.find(({ field }) => lookUp(faults, field.key) !== undefined)?.control.focus();
  }

  focus(): boolean {
    this._entries[0]?.control.focus();
    return this._entries.length > 0;
  }

  private _entry(field: Field): Entry {
    const fault = html("span.verdict.bad", { role: "status" });
    const control = this._control(field);
    on(control, "input", () => {
      this.touched = true;
      fault.textContent = "";
      control.setAttribute("aria-invalid", "false");
    });
    return { field, control, fault };
  }

  private _control({ kind, key, initial, choices, required }: Field): Control {
    const label = key || this._label;
    if (kind === "choice") {
      const options = choices.map((choice) => html("option", { value: choice }, choice));
      const none = required ? [] : [html("option", { value: "" }, "—")];
      const select = html("select.field", { "aria-label": label }, ...none, ...options);
      if (choices.includes(initial)) select.value = initial;
      return select;
    }
    if (kind === "flag") return html("input", { type: "checkbox", "aria-label": label, checked: initial === "true" });
    if (kind === "number") {
      const look = { class: "field mono", inputmode: "decimal", autocomplete: "off" };
      const field = html("input", { ...look, "aria-label": label, value: initial });
      on(field, "keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault(); // the form would send itself too, if this is its only field
        this._submit();
      });
      return field;
    }
    const area = textField(initial, label, { enter: this._submit, escape: () => area.blur() });
    return area;
  }
}

function read(control: Control): string {
  return control instanceof HTMLInputElement && control.type === "checkbox" ? String(control.checked) : control.value;
}

function labelled({ field: { key, expects, required }, control, fault }: Entry): HTMLElement {
  const optional = required ? "" : expects === "" ? "optional" : ", optional";
  const hint = html("span.dim", `${expects}${optional}`);
  // A form of one text says all by its question.
  const isPlain = key === "" && expects === "str" && required;
  const name = isPlain ? null : html("span.key.mono", key, " ", hint);
  return html("label.entry", name, control, fault);
}
