/**
 * What nodes stream, in the margin with a line to its node, never over a node or an edge; where there is no margin,
 * docked below the graph. Only the newest three: the header tells how many work.
 */

import { asks } from "../core/asks.ts";
import { plural } from "../core/format.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { nameOf } from "../core/index_graph.ts";
import { lookUp } from "../core/record.ts";
import { tail } from "../core/text.ts";
import type { NodeState, Snapshot, WireLayout } from "../protocol/generated.ts";
import { classes, html, setAttribute, setText } from "./dom.ts";
import { Leader, leaderHeight } from "./leader.ts";
import type { Stage } from "./stage.ts";

const MOST = 3;
const SHOWN_CHARS = { margin: 74, docked: 170 } as const; // what fits: three short lines, two long ones
const WIDTH = 186;
const GAP = 44;
const BETWEEN = 8;
const CALLOUT_HEIGHT = 82; // before it has been laid out

interface Callout {
  readonly element: HTMLElement;
  readonly count: HTMLElement;
  readonly text: Text;
  stream: string;
  /** The stream as it was when the text was last fitted, and the width that it was fitted to. */
  written: string | null;
  width: number;
  readonly leader: Leader;
}

export class Callouts {
  /** Below the graph, for views without a margin. */
  readonly dock = html("div", { class: "dock" });
  private readonly _open = new Map<string, Callout>();

  constructor(
    private readonly _stage: Stage,
    private readonly _index: GraphIndex,
    private readonly _layout: WireLayout,
  ) {}

  /** @param elsewhere A node whose stream is shown in a card of its own. */
  update(snapshot: Snapshot, elsewhere: string | null): void {
    const streaming = newest(snapshot).filter((id) => id !== elsewhere);
    for (const [id, callout] of this._open) if (!streaming.includes(id)) this._close(id, callout);
    for (const id of streaming) {
      const state = lookUp(snapshot.nodes, id);
      if (state !== undefined) this._fill(this._callout(id), state);
    }
    this.place();
  }

  /** Puts each beside its node again: after a pan, a zoom, a new size. */
  place(): void {
    const left = this._marginLeft();
    let lowest = 8;
    for (const [id, callout] of this._byHeight()) {
      const box = lookUp(this._layout.boxes, id);
      const docked = left === null || box === undefined;
      callout.element.classList.toggle("docked", docked);
      this._write(callout, docked);
      callout.leader.show(!docked);
      if (docked) {
        if (callout.element.parentNode !== this.dock) this.dock.append(callout.element);
        continue;
      }
      if (callout.element.parentNode !== this._stage.element) this._stage.element.append(callout.element);
      const at = this._stage.screenBox(box);
      const y = leaderHeight(at, this._stage.otherBoxes(this._layout, id, this._index.groups), left);
      const height = callout.element.offsetHeight || CALLOUT_HEIGHT;
      const top = Math.min(Math.max(lowest, y - height / 2), this._stage.view.h - this._stage.shelf - height - 8);
      lowest = top + height + BETWEEN;
      callout.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
      callout.leader.draw(at, y, { x: left, y: Math.min(Math.max(y, top + 12), top + height - 12) });
    }
  }

  clear(): void {
    for (const [id, callout] of this._open) this._close(id, callout);
  }

  private _callout(id: string): Callout {
    const known = this._open.get(id);
    if (known !== undefined) return known;
    const count = html("span");
    const text = document.createTextNode("");
    const name = nameOf(this._index, id);
    const element = html(
      "div",
      { class: "callout running", "data-callout": id },
      html("header", {}, html("b", {}, name), count),
      html("div", { class: "said" }, html("span", {}, text, html("i", { class: "caret" }))),
    );
    const leader = new Leader("running");
    this._stage.underlay.append(leader.element);
    const callout = { element, count, text, leader, stream: "", written: null, width: 0 };
    this._open.set(id, callout);
    return callout;
  }

  private _fill(callout: Callout, state: NodeState): void {
    const look = asks(state) ? "waiting" : "running";
    setText(callout.count, asks(state) ? "asks you" : plural(state.chunks, "chunk"));
    const isDocked = callout.element.classList.contains("docked");
    setAttribute(callout.element, "class", classes("callout", look, isDocked && "docked"));
    callout.leader.look(look);
    callout.stream = asks(state) ? state.question : state.stream;
  }

  private _write(callout: Callout, docked: boolean): void {
    const width = callout.element.offsetWidth;
    if (callout.written === callout.stream && callout.width === width) return;
    callout.written = callout.stream;
    callout.width = width;
    let shown = tail(callout.stream, docked ? SHOWN_CHARS.docked : SHOWN_CHARS.margin);
    // Begins with a whole word where words are of usual length.
    const begun = () => (shown === callout.stream ? shown : `…${shown.replace(/^\S{1,14}\s+/, "")}`);
    setText(callout.text, begun());
    // Wide letters or many short lines take more room than that: the beginning goes, never the sign that it went.
    for (let tries = 0; tries < 24 && overflows(callout); tries++) {
      shown = tail(shown, Math.max(1, Math.floor(shown.length * 0.85)));
      setText(callout.text, begun());
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

/** Nodes that ask, or are at work and have streamed something, latest starters first. */
function newest(snapshot: Snapshot): string[] {
  return Object.entries(snapshot.nodes)
    .filter(([, state]) => (state.status === "running" || asks(state)) && state.stream !== "")
    .sort(([, a], [, b]) => (b.started_s ?? 0) - (a.started_s ?? 0))
    .slice(0, MOST)
    .map(([id]) => id);
}
