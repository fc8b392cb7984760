/** Skip a task with a delta written by hand, for this visit or pinned for later ones too. */

import type { DebugState, WireWaiting } from "../protocol/generated_debugging.ts";
import { button, textField } from "../view/controls.ts";
import { html, on } from "../view/dom.ts";
import { icon } from "../view/glyph.ts";
import type { Desk } from "./desk.ts";

interface Line {
  readonly element: HTMLElement;
  readonly key: () => string;
  readonly text: () => string;
}

export class SkipForm {
  readonly element: HTMLElement;
  private readonly _lines: Line[] = [];
  private readonly _rows = html("div.delta");
  private readonly _pin = html("input", { type: "checkbox" });
  private readonly _fault = html("p.verdict.bad", { role: "status", hidden: true });

  constructor(
    private readonly _task: Pick<WireWaiting, "task" | "node">,
    name: string,
    private readonly _state: DebugState,
    private readonly _desk: Desk,
    private readonly _close: () => void,
  ) {
    this._addLine();
    this.element = html(
      "div.skip",
      { role: "group", "aria-label": `Skip ${name} with a delta` },
      html("p.dim", "It doesn't run; this is taken as its answer."),
      this._rows,
      html("label.pin", this._pin, "For later visits too (pin)"),
      this._fault,
      html(
        "div.form-buttons",
        button("Skip it", () => void this._apply(), { className: "outline" }),
        button("Add a key", () => this._addLine(), {}),
        button("Cancel", _close, { key: "Esc" }),
      ),
    );
  }

  start(): void {
    this.element.querySelector<HTMLElement>("select, textarea")?.focus();
  }

  private _addLine(): void {
    const used = this._lines.map((line) => line.key());
    const free = this._state.state.find((key) => !used.includes(key.key));
    const options = this._state.state.map((key) => html("option", { value: key.key, selected: key === free }, key.key));
    const select = html("select.field.mono", { "aria-label": "State key" }, ...options);
    on(select, "keydown", (event) => event.key === "Escape" && this._close());
    const area = textField("", "Value, as a Python or JSON literal", {
      enter: () => void this._apply(),
      escape: this._close,
    });
    area.placeholder = '"a literal"';
    const line: Line = {
      element: html("div.delta-line", select, area),
      key: () => select.value,
      text: () => area.value,
    };
    const drop = () => {
      this._lines.splice(this._lines.indexOf(line), 1);
      line.element.remove();
    };
    line.element.append(button("", drop, { name: "Leave this key out", icon: icon("close") }));
    this._lines.push(line);
    this._rows.append(line.element);
    area.focus();
  }

  private async _apply(): Promise<void> {
    const filled = this._lines.filter((line) => line.text().trim() !== "");
    const delta = Object.fromEntries(filled.map((line) => [line.key(), line.text()]));
    const type = this._pin.checked ? "pin" : "skip";
    const reply = await this._desk.ask({ type, task: this._task.task, delta });
    if (reply === null || reply.ok) return this._close();
    this._fault.hidden = false;
    this._fault.textContent = `${reply.error.what} — ${reply.error.fix}`;
  }
}
