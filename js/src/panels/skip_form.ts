/** Skip a task with a delta written by hand, for this visit or pinned for later ones too. */

import type { DebugState, WireWaiting } from "../protocol/generated_debugging.ts";
import { button, textField } from "../view/controls.ts";
import { html } from "../view/dom.ts";
import { icon } from "../view/glyph.ts";
import type { Desk } from "./desk.ts";

interface Line {
  readonly element: HTMLElement;
  readonly key: () => string;
  readonly text: () => string;
}

export class SkipForm {
  readonly element: HTMLElement;
  private readonly lines: Line[] = [];
  private readonly rows = html("div", { class: "delta" });
  private readonly pin = html("input", { type: "checkbox" });
  private readonly fault = html("p", { class: "verdict bad", role: "status", hidden: true });

  constructor(
    private readonly task: Pick<WireWaiting, "task" | "node">,
    name: string,
    private readonly state: DebugState,
    private readonly desk: Desk,
    private readonly close: () => void,
  ) {
    this.addLine();
    this.element = html(
      "div",
      { class: "skip", role: "group", "aria-label": `Skip ${name} with a delta` },
      html("p", { class: "dim" }, "It doesn't run; this is taken as its answer."),
      this.rows,
      html("label", { class: "pin" }, this.pin, "For later visits too (pin)"),
      this.fault,
      html(
        "div",
        { class: "form-buttons" },
        button("Skip it", () => void this.apply(), { className: "outline" }),
        button("Add a key", () => this.addLine(), {}),
        button("Cancel", close, { key: "Esc" }),
      ),
    );
  }

  start(): void {
    this.element.querySelector<HTMLElement>("select, textarea")?.focus();
  }

  private addLine(): void {
    const used = this.lines.map((line) => line.key());
    const free = this.state.state.find((key) => !used.includes(key.key));
    const options = this.state.state.map((key) => html("option", { value: key.key, selected: key === free }, key.key));
    const select = html("select", { class: "field mono", "aria-label": "State key" }, ...options);
    select.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    const area = textField("", "Value, as a Python or JSON literal", {
      enter: () => void this.apply(),
      escape: this.close,
    });
    area.placeholder = '"a literal"';
    const line: Line = {
      element: html("div", { class: "delta-line" }, select, area),
      key: () => select.value,
      text: () => area.value,
    };
    const drop = () => {
      this.lines.splice(this.lines.indexOf(line), 1);
      line.element.remove();
    };
    line.element.append(button("", drop, { name: "Leave this key out", icon: icon("close") }));
    this.lines.push(line);
    this.rows.append(line.element);
    area.focus();
  }

  private async apply(): Promise<void> {
    const filled = this.lines.filter((line) => line.text().trim() !== "");
    const delta = Object.fromEntries(filled.map((line) => [line.key(), line.text()]));
    const type = this.pin.checked ? "pin" : "skip";
    const reply = await this.desk.ask({ type, task: this.task.task, delta });
    if (reply === null || reply.ok) return this.close();
    this.fault.hidden = false;
    this.fault.textContent = `${reply.error.what} — ${reply.error.fix}`;
  }
}
