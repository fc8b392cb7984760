/** The toolbar: commands that never move, the chip, the help. What can't be used stays, dimmed, and says why. */

import { sessionChip } from "../core/debug_words.ts";
import { hintOf, labelOf, TOOLS, type Tool, type ToolName, whyNot } from "../core/tools.ts";
import { roving } from "../view/controls.ts";
import { debugIcon } from "../view/debug_icons.ts";
import { html, on, setAttribute, setText } from "../view/dom.ts";
import { icon, stateIcon } from "../view/glyph.ts";
import type { PanelView } from "./desk.ts";

interface Drawn {
  readonly tool: Tool;
  readonly element: HTMLButtonElement;
  readonly label: HTMLElement;
}

export class Toolbar {
  readonly element: HTMLElement;
  private readonly _tools: readonly Drawn[];
  private readonly _sign = html("span.sign");
  private readonly _word = html("span");
  private readonly _chip = html("span.chip", this._sign, this._word);
  private _look = "";

  /** @param run Called for a press, also of a tool that can't be used: whoever listens says why. */
  constructor(run: (name: ToolName) => void, help: () => void, signal: AbortSignal) {
    const drawn: Drawn[] = [];
    const row = TOOLS.map((tool) => {
      if (tool === null) return html("span.sep");
      const one = draw(tool, () => run(tool.name));
      drawn.push(one);
      return one.element;
    });
    this._tools = drawn;
    const helpButton = html(
      "button",
      { type: "button", "aria-label": "Keys and help", "data-hint": "All keys", "data-hint-key": "?" },
      icon("help"),
    );
    on(helpButton, "click", help);
    this.element = html(
      "div.bar.tools",
      { role: "toolbar", "aria-label": "Debugger" },
      ...row,
      html("span.grow"),
      this._chip,
      helpButton,
    );
    roving(this.element, signal);
  }

  /** @param held Why the kernel doesn't answer, "" if it does. */
  update(view: PanelView, target: string | null, held: string): void {
    const { state, saved, names } = view;
    for (const { tool, element, label } of this._tools) {
      setText(label, labelOf(tool, state));
      setAttribute(
        element,
        "data-hint",
        saved ? `${tool.label}: no kernel answers` : hintOf(tool, state, names, target),
      );
      setAttribute(element, "aria-label", labelOf(tool, state));
      // The card that tells what broke, or asks, holds the filled button then.
      const isCalm = state.looking === null && (state.status === "failed" || state.questions.length > 0);
      if (tool.name === "resume") element.classList.toggle("calm", isCalm);
      setAttribute(element, "aria-disabled", (saved || whyNot(tool.name, state, target) !== "") && "true");
    }
    this.element.classList.toggle("no-kernel", saved);
    this._drawChip(view, held);
  }

  private _drawChip({ state, snapshot, saved }: PanelView, held: string): void {
    const { look, word } = sessionChip(state, snapshot, saved, held);
    if (look !== this._look) this._sign.replaceChildren(look === "past" ? debugIcon("history") : stateIcon(look));
    this._look = look;
    setAttribute(this._chip, "class", `chip ${look}`);
    setAttribute(this._chip, "data-hint", held === "" ? null : held);
    setText(this._word, word);
  }
}

function draw(tool: Tool, run: () => void): Drawn {
  const label = html("span.word", tool.label);
  const element = html(
    "button",
    {
      type: "button",
      class: tool.name === "resume" ? "primary" : tool.name === "pause" ? "bare" : null,
      "data-tool": tool.name,
      "data-hint-key": tool.key,
      "aria-keyshortcuts": tool.key.replace("⇧", "Shift+"),
    },
    debugIcon(tool.icon),
    label,
  );
  on(element, "click", run);
  return { tool, element, label };
}
