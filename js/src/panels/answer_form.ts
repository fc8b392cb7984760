/** The form of one question, made of the schema of its answer: buttons for a few choices, else fields. */

import { answerOf, type Field, faultsIn, formOf } from "../core/form.ts";
import type { WireQuestion } from "../protocol/generated_debugging.ts";
import { button, roving } from "../view/controls.ts";
import { html, on } from "../view/dom.ts";
import { FormFields } from "./form_fields.ts";

const MOST_BUTTONS = 4;

export class AnswerForm {
  readonly element: HTMLFormElement;
  private readonly _form: readonly Field[];
  private readonly _fields: FormFields | null;
  private readonly _fault = html("p.verdict.bad", { role: "alert" });

  constructor(
    private readonly _question: WireQuestion,
    private readonly _send: (value: unknown) => void,
    signal: AbortSignal,
  ) {
    this._form = formOf(_question.schema, _question.default);
    const buttons = this._buttons(signal);
    this._fields = buttons === null ? new FormFields(this._form, () => this._enter(), _question.text) : null;
    const answer = button("Answer", () => this._answer(), { className: "primary", key: "⏎", dataKey: "answer" });
    const parts = buttons === null ? [...(this._fields?.elements ?? []), html("div.form-buttons", answer)] : [buttons];
    this.element = html("form", { "aria-label": "Answer" }, ...parts, this._fault);
    on(this.element, "submit", (event) => event.preventDefault(), signal);
  }

  /** Leads to the first field, or to the button of the default. */
  focus(): void {
    if (this._fields === null) this.element.querySelector<HTMLElement>('button[tabindex="0"]')?.focus();
    else this._fields.focus();
  }

  /** Says why an answer was refused, beside its field as far as that is known. */
  refuse(what: string): void {
    const { "": rest = "", ...named } = faultsIn(what, this._form);
    const isOne = this._fields !== null && this._form[0]?.key === "";
    this._fields?.blame(isOne ? { "": rest } : named);
    this._fault.textContent = isOne ? "" : rest;
  }

  private _buttons(signal: AbortSignal): HTMLElement | null {
    const [only] = this._form;
    const options = only?.key === "" && this._form.length === 1 ? optionsOf(only) : [];
    if (options.length === 0 || options.length > MOST_BUTTONS) return null;
    const preset = Math.max(
      0,
      options.findIndex(([word]) => word === (only?.kind === "flag" ? yesNo(only.initial) : only?.initial)),
    );
    const row = html("div.choices", { role: "group", "aria-label": this._question.text });
    options.forEach(([word, value], i) => {
      const isPreset = i === preset && only?.initial !== "";
      row.append(
        button(word, () => this._send(value), { className: isPreset ? "primary" : "outline", dataKey: `answer ${i}` }),
      );
    });
    roving(row, signal);
    for (const [i, each] of [...row.querySelectorAll("button")].entries()) each.tabIndex = i === preset ? 0 : -1;
    return row;
  }

  /** Enter in a field: an empty text is only sent by the button. */
  private _enter(): void {
    const values = this._fields?.values() ?? null;
    if (values === null) return;
    if (values[""] === "") this._fields?.blame({ "": "nothing is written; the button sends an empty text" });
    else this._send(answerOf(this._form, values));
  }

  private _answer(): void {
    const values = this._fields?.values() ?? null;
    if (values !== null) this._send(answerOf(this._form, values));
  }
}

/** The words of the buttons, and what they answer. */
function optionsOf({ kind, choices, values, required }: Field): (readonly [string, unknown])[] {
  const none: (readonly [string, unknown])[] = required ? [] : [["None", null]];
  if (kind === "flag") return [["Yes", true], ["No", false], ...none];
  return kind === "choice" ? [...choices.map((choice, i) => [choice, values[i]] as const), ...none] : [];
}

function yesNo(initial: string): string {
  return initial === "true" ? "Yes" : initial === "false" ? "No" : "";
}
