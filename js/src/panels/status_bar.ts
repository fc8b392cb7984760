/** The bar between graph and timeline: where the session stands, in the past inverted; and what a command was refused for. */

import { barWords, sessionChip } from "../core/debug_words.ts";
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
  readonly element = html("div.bar.now");
  private readonly _sign = html("span.sign");
  private readonly _words = html("span.say");
  private readonly _moves: HTMLElement;
  private readonly _dismiss: HTMLButtonElement;
  private _error: ReplyError | null = null;
  private _drawn = "";

  constructor(
    actions: BarActions,
    private readonly _changed: () => void,
  ) {
    this._moves = html(
      "span.moves",
      button("", actions.back, { name: "A step back", icon: kbd("[") }),
      button("", actions.on, { name: "A step on", icon: kbd("]") }),
      button("Back to live", actions.live, { key: "End" }),
    );
    this._dismiss = button("", () => this.refuse(null), { name: "Close", icon: icon("close") });
    this.element.append(this._sign, this._words, html("span.grow"), this._moves, this._dismiss);
  }

  /** Shows why a command wasn't carried out, until the next one is or it is closed. */
  refuse(error: ReplyError | null): void {
    if (this._error === error) return;
    this._error = error;
    this._changed();
  }

  update(view: PanelView): void {
    const { state, snapshot, names, saved } = view;
    const isPast = state.looking !== null;
    const rich = this._error === null ? barWords(state, snapshot, names, saved) : errorWords(this._error);
    const look = this._error !== null ? "failed" : sessionChip(state, snapshot, false, "").look;
    const key = JSON.stringify([look, rich]);
    this._moves.hidden = !isPast || saved || this._error !== null;
    this._dismiss.hidden = this._error === null;
    if (key === this._drawn) return;
    this._drawn = key;
    setAttribute(this.element, "class", `bar now ${look}${this._error === null ? "" : " refused"}`);
    this._sign.replaceChildren(isPast && this._error === null ? debugIcon("history") : stateIcon(glyphOf(look)));
    this._words.replaceChildren(...richNodes(rich));
    setAttribute(this._words, "title", this._words.textContent);
  }
}

function glyphOf(look: string): Parameters<typeof stateIcon>[0] {
  return look === "past" ? "idle" : (look as Parameters<typeof stateIcon>[0]);
}

function errorWords({ what, where, fix }: ReplyError): (string | { b: string })[] {
  return [{ b: what }, where === "" ? "" : ` · ${where}`, fix === "" ? "" : ` — ${fix}`];
}

function kbd(key: string): HTMLElement {
  return html("kbd", key);
}
