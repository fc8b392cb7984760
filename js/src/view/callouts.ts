/**
 * What nodes say, in the margin with a line to its node, never over a node or an edge: what broke, what is asked, what is
 * streamed. Only the newest three: the header tells how many work.
 */

import { asks } from "../core/asks.ts";
import { plural } from "../core/format.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { nameOf } from "../core/index_graph.ts";
import { lookUp } from "../core/record.ts";
import { cut, tail } from "../core/text.ts";
import { toolAtWork } from "../core/tool_words.ts";
import type { NodeState, Snapshot, WireBox, WireError, WireLayout } from "../protocol/generated.ts";
import { classes, html, setAttribute, setText } from "./dom.ts";
import { Leader, leaderHeight } from "./leader.ts";
import type { Stage } from "./stage.ts";

const MOST = 3;
const SHOWN_CHARS = { margin: 74, docked: 170 } as const; // what fits: three short lines, two long ones
const WIDTH = 186;
const GAP = 44;
const BETWEEN = 8;
const CALLOUT_HEIGHT = 82; // before it has been laid out

/** Where callouts go that find no margin, and who else tells what broke. */
export interface CalloutHost {
  /** Below the graph; null where another part of the view tells what nodes stream. */
  readonly dock: HTMLElement | null;
  /** Whether what broke gets a callout; not where a card with a line of its own tells it. */
  readonly tellsFailures: boolean;
  /** Where a card right of the stage that tells what broke begins and ends, on the stage's scale; null without one. */
  cardBeside(): Beside | null;
}

interface Beside {
  readonly top: number;
  readonly bottom: number;
}

interface Said {
  readonly look: "failed" | "waiting" | "running";
  readonly count: string;
  readonly text: string;
}

interface Callout {
  readonly element: HTMLElement;
  readonly count: HTMLElement;
  readonly text: Text;
  readonly leader: Leader;
  said: Said;
  /** The text as it was when it was last fitted, and the width that it was fitted to. */
  written: string | null;
  width: number;
}

export class Callouts {
  private readonly _open = new Map<string, Callout>();

  constructor(
    private readonly _stage: Stage,
    private readonly _index: GraphIndex,
    private readonly _layout: WireLayout,
    private readonly _host: CalloutHost,
  ) {}

  /** @param elsewhere A node whose stream is shown in a card of its own. */
  update(snapshot: Snapshot, elsewhere: string | null, elapsedS: number): void {
    const said = newest(snapshot, this._host.tellsFailures, elapsedS).filter(([id]) => id !== elsewhere);
    for (const [id, callout] of this._open) if (!said.some(([other]) => other === id)) this._close(id, callout);
    for (const [id, one] of said) this._fill(id, one);
    this.place();
  }

  /** The clocks of tools at work go on. */
  tick(snapshot: Snapshot, elapsedS: number): void {
    for (const [id, { count }] of this._open) {
      const tool = toolAtWork(lookUp(snapshot.nodes, id), elapsedS);
      if (tool !== "") setText(count, tool);
    }
  }

  /** Whether what a node says stands somewhere. */
  tells(id: string): boolean {
    return this._open.get(id)?.element.parentNode != null;
  }

  /** Puts each beside its node again: after a pan, a zoom, a new size. */
  place(): void {
    const left = this._marginLeft();
    let lowest = 8;
    for (const [id, callout] of this._byHeight()) {
      const box = lookUp(this._layout.boxes, id);
      const card = callout.said.look === "failed" ? this._host.cardBeside() : null;
      const docked = left === null || box === undefined || card !== null;
      callout.element.classList.toggle("docked", docked);
      const parent = docked ? this._host.dock : this._stage.element;
      if (parent === null) callout.element.remove();
      else if (callout.element.parentNode !== parent) parent.append(callout.element);
      // Fitting measures: only what is to be seen.
      if (parent !== null) this._write(callout, docked);
      callout.leader.show(!docked);
      if (box === undefined) continue;
      if (docked) {
        if (card !== null) this._tieToCard(id, box, callout.leader, card);
        continue;
      }
      const at = this._stage.screenBox(box);
      const y = this._leaderHeight(id, at, left);
      const height = callout.element.offsetHeight || CALLOUT_HEIGHT;
      const top = Math.min(Math.max(lowest, y - height / 2), this._stage.view.h - this._stage.shelf - height - 8);
      lowest = top + height + BETWEEN;
      callout.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
      callout.leader.draw(at, y, { x: left, y: Math.min(Math.max(y, top + 12), top + height - 12) });
    }
  }

  /** The card beside the stage tells it all: the line goes on to there. */
  private _tieToCard(id: string, box: WireBox, leader: Leader, card: Beside): void {
    const at = this._stage.screenBox(box);
    const edge = this._stage.view.w;
    const y = this._leaderHeight(id, at, edge);
    leader.show(true);
    leader.draw(at, y, { x: edge, y: Math.min(Math.max(y, card.top + 16), card.bottom - 16) });
  }

  private _leaderHeight(id: string, at: WireBox, toX: number): number {
    return leaderHeight(at, this._stage.otherBoxes(this._layout, id, this._index.groups), toX);
  }

  clear(): void {
    for (const [id, callout] of this._open) this._close(id, callout);
  }

  private _fill(id: string, said: Said): void {
    const known = this._open.get(id);
    const callout = known ?? this._make(id, said);
    callout.said = said;
    setText(callout.count, said.count);
    const isDocked = callout.element.classList.contains("docked");
    setAttribute(callout.element, "class", classes("callout", said.look, isDocked && "docked"));
    callout.leader.look(said.look);
  }

  private _make(id: string, said: Said): Callout {
    const count = html("span");
    const text = document.createTextNode("");
    const element = html(
      "div",
      { "data-callout": id },
      html("header", html("b", nameOf(this._index, id)), count),
      html("div.said", html("span", text, html("i.caret"))),
    );
    const leader = new Leader(said.look);
    this._stage.underlay.append(leader.element);
    const callout = { element, count, text, leader, said, written: null, width: 0 };
    this._open.set(id, callout);
    return callout;
  }

  private _write(callout: Callout, docked: boolean): void {
    const width = callout.element.offsetWidth;
    const { text, look } = callout.said;
    if (callout.written === text && callout.width === width) return;
    callout.written = text;
    callout.width = width;
    let chars: number = docked ? SHOWN_CHARS.docked : SHOWN_CHARS.margin;
    const shown = () => (look === "running" ? latest(text, chars) : cut(text, chars));
    setText(callout.text, shown());
    // Wide letters or many short lines take more room than that: some go, never the sign that they went.
    for (let tries = 0; tries < 24 && overflows(callout); tries++) {
      chars = Math.max(1, Math.floor(Math.min(chars, text.length) * 0.85));
      setText(callout.text, shown());
    }
  }

  private _close(id: string, callout: Callout): void {
    callout.element.remove();
    callout.leader.element.remove();
    this._open.delete(id);
  }

  private _byHeight(): [string, Callout][] {
    const y = (id: string) => lookUp(this._layout.boxes, id)?.y ?? 0;
    return [...this._open].sort(([a], [b]) => y(a) - y(b));
  }

  /** Where the margin begins, in screen pixels; null if there is no room for a callout. */
  private _marginLeft(): number | null {
    const { view } = this._stage;
    const graph = this._stage.screenBox({ x: 0, y: 0, w: this._layout.width, h: this._layout.height });
    const left = graph.x + graph.w + Math.min(GAP, Math.max(18, view.w - graph.x - graph.w - WIDTH - 12));
    return left + WIDTH + 10 <= view.w - this._stage.beside ? left : null;
  }
}

/** Whether the words are higher than the room for them. */
function overflows({ text }: Callout): boolean {
  const words = text.parentElement;
  const room = words?.parentElement?.clientHeight ?? 0;
  return words !== null && room > 0 && words.getBoundingClientRect().height > room + 1;
}

/** The end of a stream; begins with a whole word where words are of usual length. */
function latest(text: string, chars: number): string {
  const shown = tail(text, chars);
  return shown === text ? text : `…${shown.replace(/^\S{1,14}\s+/, "")}`;
}

/**
 * What broke first, then nodes that ask, or are at work and have streamed something, latest starters first. What broke
 * has a card of its own in the plain view, what is asked has its form in the debugger.
 */
function newest(snapshot: Snapshot, withFailures: boolean, elapsedS: number): [string, Said][] {
  return Object.entries(snapshot.nodes)
    .map(([id, state]) => ({ id, state, said: saidBy(id, state, snapshot, elapsedS) }))
    .filter(({ said }) => said !== null && said.look !== (withFailures ? "waiting" : "failed"))
    .sort((a, b) => rank(a.said) - rank(b.said) || (b.state.started_s ?? 0) - (a.state.started_s ?? 0))
    .slice(0, MOST)
    .map(({ id, said }) => [id, said as Said]);
}

function rank(said: Said | null): number {
  return said?.look === "failed" ? 0 : 1;
}

function saidBy(id: string, state: NodeState, { run }: Snapshot, elapsedS: number): Said | null {
  if (state.status === "failed") {
    const error = run.failed_node === id ? run.error : null;
    return { look: "failed", count: error?.kind ?? "failed", text: error === null ? state.note : failureWords(error) };
  }
  if (state.stream === "") return null;
  if (asks(state)) return { look: "waiting", count: "asks you", text: state.question };
  if (state.status !== "running") return null;
  const count = toolAtWork(state, elapsedS) || plural(state.chunks, "chunk");
  return { look: "running", count, text: state.stream };
}

/** Beside the kind of the error, which many messages begin with too. */
function failureWords({ kind, what, fix }: WireError): string {
  const said = what.startsWith(`${kind}: `) ? what.slice(kind.length + 2) : what;
  return fix === "" ? said : `${said} — ${fix}`;
}
