/** A state key being edited in place: what is typed is checked by the kernel as it is typed, and says what it would do. */

import type { EditResult } from "../protocol/generated_debugging.ts";
import { button, textField } from "../view/controls.ts";
import { debugIcon } from "../view/debug_icons.ts";
import { html } from "../view/dom.ts";
import { icon } from "../view/glyph.ts";
import type { Desk } from "./desk.ts";

const CHECK_AFTER_MS = 180;

export class EditRow {
  readonly element: HTMLElement;
  readonly field: HTMLTextAreaElement;
  private readonly verdict = html("span", { class: "verdict", role: "status" });
  private readonly branch = html("span", { class: "dim makes" });
  private timer: ReturnType<typeof setTimeout> | null = null;
  private asked = 0;

  /** @param shown The value as it was shown, for the sentence that is spoken. */
  constructor(
    readonly key: string,
    private readonly shown: string,
    text: string,
    private readonly desk: Desk,
    private readonly close: () => void,
  ) {
    this.field = textField(text, `New value of ${key}`, {
      enter: () => void this.apply(),
      escape: close,
      input: () => this.checkSoon(),
    });
    this.fitField();
    const row = html("div", { class: "edit-line" }, html("span", { class: "key" }, key), this.field, this.verdict);
    const buttons = html(
      "div",
      { class: "edit-buttons" },
      button("Apply", () => void this.apply(), { key: "⏎", className: "outline" }),
      button("Cancel", close, { key: "Esc" }),
      html("span", { class: "grow" }),
      this.branch,
    );
    this.element = html("li", { class: "edit" }, row, buttons);
    void this.check();
  }

  start(): void {
    this.field.focus();
    this.field.select();
  }

  /** As wide as a short value, so that the verdict stands beside it. */
  private fitField(): void {
    const longest = Math.max(...this.field.value.split("\n").map((line) => line.length));
    this.field.style.width = `${Math.max(7, longest + 3)}ch`;
  }

  private checkSoon(): void {
    this.fitField();
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.check(), CHECK_AFTER_MS);
  }

  private async check(): Promise<void> {
    const mine = ++this.asked;
    const reply = await this.desk.ask({ type: "edit", key: this.key, text: this.field.value, task: null, check: true });
    if (mine !== this.asked || reply === null) return;
    if (!reply.ok) return this.show(false, reply.error.what, reply.error.fix);
    if (isEdit(reply.result)) this.show(true, reply.result.expects, "", reply.result.branch);
  }

  private async apply(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    const text = this.field.value;
    const mine = ++this.asked;
    const reply = await this.desk.ask({ type: "edit", key: this.key, text, task: null, check: false });
    if (reply === null || reply.ok) {
      this.desk.say(`${this.key} changed from ${this.shown} to ${text}.`);
      return this.close();
    }
    if (mine === this.asked) this.show(false, reply.error.what, reply.error.fix);
  }

  private show(isGood: boolean, words: string, fix: string, branch = ""): void {
    this.verdict.className = isGood ? "verdict good" : "verdict bad";
    this.verdict.replaceChildren(icon(isGood ? "check" : "close"), fix === "" ? words : `${words} — ${fix}`);
    this.field.setAttribute("aria-invalid", String(!isGood));
    this.branch.replaceChildren(...(branch === "" ? [] : [debugIcon("fork"), ` makes branch ${branch}`]));
  }
}

function isEdit(value: unknown): value is EditResult {
  return typeof value === "object" && value !== null && "expects" in value;
}
