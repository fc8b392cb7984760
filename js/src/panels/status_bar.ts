/** The bar between graph and timeline: where the session stands, in the past inverted; and what a command was refused for. */

import { barWords } from "../core/debug_words.ts";
import type { ReplyError } from "../protocol/generated.ts";
import { button } from "../view/controls.ts";
import { debugIcon } from "../view/debug_icons.ts";
import { html, setAttribute } from "../view/dom.ts";
import { icon, stateIcon } from "../view/glyph.ts";
import { richNodes } from "../view/rich.ts";
import type { PanelView } from "./desk.ts";

export interface BarActions {
  back(): void;
  on(): void;
  live(): void;
}

export class StatusBar {
  readonly element = html("div", { class: "bar now" });
  private readonly sign = html("span", { class: "sign" });
  private readonly words = html("span", { class: "say" });
  private readonly moves: HTMLElement;
  private readonly dismiss: HTMLButtonElement;
  private error: ReplyError | null = null;
  private drawn = "";

  constructor(
    actions: BarActions,
    private readonly changed: () => void,
  ) {
    this.moves = html(
      "span",
      { class: "moves" },
      button("", actions.back, { name: "A step back", icon: kbd("[") }),
      button("", actions.on, { name: "A step on", icon: kbd("]") }),
      button("Back to live", actions.live, { key: "End" }),
    );
    this.dismiss = button("", () => this.refuse(null), { name: "Close", icon: icon("close") });
    this.element.append(this.sign, this.words, html("span", { class: "grow" }), this.moves, this.dismiss);
  }

  /** Shows why a command wasn't carried out, until the next one is or it is closed. */
  refuse(error: ReplyError | null): void {
    if (this.error === error) return;
    this.error = error;
    this.changed();
  }

  update(view: PanelView): void {
    const { state, snapshot, names, saved } = view;
    const isPast = state.looking !== null;
    const rich = this.error === null ? barWords(state, snapshot, names, saved) : errorWords(this.error);
    const look = this.error !== null ? "failed" : isPast ? "past" : state.status === "finished" ? "done" : state.status;
    const key = JSON.stringify([look, rich]);
    this.moves.hidden = !isPast || saved || this.error !== null;
    this.dismiss.hidden = this.error === null;
    if (key === this.drawn) return;
    this.drawn = key;
    setAttribute(this.element, "class", `bar now ${look}${this.error === null ? "" : " refused"}`);
    this.sign.replaceChildren(isPast && this.error === null ? debugIcon("history") : stateIcon(glyphOf(look)));
    this.words.replaceChildren(...richNodes(rich));
    setAttribute(this.words, "title", this.words.textContent);
  }
}

function glyphOf(look: string): Parameters<typeof stateIcon>[0] {
  if (look === "pausing") return "running";
  return look === "past" ? "idle" : (look as Parameters<typeof stateIcon>[0]);
}

function errorWords({ what, where, fix }: ReplyError): (string | { b: string })[] {
  return [{ b: what }, where === "" ? "" : ` · ${where}`, fix === "" ? "" : ` — ${fix}`];
}

function kbd(key: string): HTMLElement {
  return html("kbd", {}, key);
}
