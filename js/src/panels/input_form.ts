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
  private entries: readonly Entry[] = [];
  private made = "";
  private touched = false;

  constructor(
    private readonly desk: Desk,
    /** Called once the run has begun. */
    private readonly done: () => void,
  ) {
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.run();
    });
  }

  /** Made once for each schema, so that what was typed stays. */
  update({ state, snapshot }: PanelView): void {
    const key = JSON.stringify(state.input_schema);
    if (key === this.made) return;
    this.made = key;
    this.touched = false;
    this.entries = fieldsOf(state.input_schema).map((field) => this.entry(field));
    const words =
      this.entries.length === 0 ? `${snapshot.graph.name} takes no inputs.` : `Inputs of ${snapshot.graph.name}`;
    this.element.replaceChildren(
      html("div", { class: "cap" }, html("span", {}, words)),
      ...this.entries.map(({ field, control, fault }) => labelled(field, control, fault)),
      html(
        "div",
        { class: "form-buttons" },
        button("Run", () => void this.run(), { className: "outline", icon: debugIcon("resume") }),
      ),
    );
  }

  /** Begins the run if something was entered; else the reader is led to what can be. */
  proceed(): void {
    if (this.touched) void this.run();
    else this.focus();
  }

  private focus(): void {
    (this.entries[0]?.control ?? this.element.querySelector("button"))?.focus();
  }

  private async run(): Promise<void> {
    const typed = Object.fromEntries(this.entries.map(({ field, read }) => [field.key, read()]));
    const entered = valuesOf(
      this.entries.map(({ field }) => field),
      typed,
    );
    for (const { field, fault } of this.entries)
      fault.textContent = entered.ok ? "" : (entered.faults[field.key] ?? "");
    if (!entered.ok) return this.entries.find(({ field }) => field.key in entered.faults)?.control.focus();
    if (await this.desk.send({ type: "run", inputs: entered.values })) this.done();
  }

  private entry(field: Field): Entry {
    const fault = html("span", { class: "verdict bad", role: "status" });
    const control = this.control(field);
    control.addEventListener("input", () => {
      this.touched = true;
      fault.textContent = "";
    });
    const read = () => {
      if (control instanceof HTMLInputElement)
        return control.type === "checkbox" ? String(control.checked) : control.value;
      return control.value;
    };
    return { field, control, fault, read };
  }

  private control(field: Field): HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement {
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
    const area = textField(initial, key, { enter: () => void this.run(), escape: () => area.blur() });
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
