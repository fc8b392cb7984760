/** A state key being edited in place: what is typed is checked by the kernel as it is typed, and says what it would do. */

import { has } from "../core/record.ts";
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
  private readonly _verdict = html("span.verdict", { role: "status" });
  private readonly _branch = html("span.dim.makes");
  private _timer: ReturnType<typeof setTimeout> | null = null;
  private _asked = 0;

  /** @param shown The value as it was shown, for the sentence that is spoken. */
  constructor(
    readonly key: string,
    private readonly _shown: string,
    text: string,
    private readonly _desk: Desk,
    private readonly _close: () => void,
  ) {
    this.field = textField(text, `New value of ${key}`, {
      enter: () => void this._apply(),
      escape: _close,
      input: () => this._checkSoon(),
    });
    this._fitField();
    const row = html("div.edit-line", html("span.key", key), this.field, this._verdict);
    const buttons = html(
      "div.edit-buttons",
      button("Apply", () => void this._apply(), { key: "⏎", className: "outline" }),
      button("Cancel", _close, { key: "Esc" }),
      html("span.grow"),
      this._branch,
    );
    this.element = html("li.edit", row, buttons);
    void this._check();
  }

  start(): void {
    this.field.focus();
    this.field.select();
  }

  /** As wide as a short value, so that the verdict stands beside it. */
  private _fitField(): void {
    const longest = Math.max(...this.field.value.split("\n").map((line) => line.length));
    this.field.style.width = `${Math.max(7, longest + 3)}ch`;
  }

  private _checkSoon(): void {
    this._fitField();
    if (this._timer !== null) clearTimeout(this._timer);
    this._timer = setTimeout(() => void this._check(), CHECK_AFTER_MS);
  }

  private async _check(): Promise<void> {
    const mine = ++this._asked;
    const reply = await this._desk.ask({
      type: "edit",
      key: this.key,
      text: this.field.value,
      task: null,
      check: true,
    });
    if (mine !== this._asked || reply === null) return;
    if (!reply.ok) return this._show(false, reply.error.what, reply.error.fix);
    if (isEdit(reply.result)) this._show(true, reply.result.expects, "", reply.result.branch);
  }

  private async _apply(): Promise<void> {
    if (this._timer !== null) clearTimeout(this._timer);
    const text = this.field.value;
    const mine = ++this._asked;
    const reply = await this._desk.ask({ type: "edit", key: this.key, text, task: null, check: false });
    if (reply === null || reply.ok) {
      this._desk.say(`${this.key} changed from ${this._shown} to ${text}.`);
      return this._close();
    }
    if (mine === this._asked) this._show(false, reply.error.what, reply.error.fix);
  }

  private _show(isGood: boolean, words: string, fix: string, branch = ""): void {
    this._verdict.className = isGood ? "verdict good" : "verdict bad";
    this._verdict.replaceChildren(icon(isGood ? "check" : "close"), fix === "" ? words : `${words} — ${fix}`);
    this.field.setAttribute("aria-invalid", String(!isGood));
    this._branch.replaceChildren(...(branch === "" ? [] : [debugIcon("fork"), ` makes branch ${branch}`]));
  }
}

function isEdit(value: unknown): value is EditResult {
  return has(value, "expects");
}
