/**
 * What nodes stream, in the margin with a line to its node, never over a node or an edge; where there is no margin,
 * docked below the graph. Only the newest three: the header tells how many work.
 */

import { plural } from "../core/format.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { nameOf } from "../core/index_graph.ts";
import { lookUp } from "../core/record.ts";
import { tail } from "../core/text.ts";
import type { NodeState, Snapshot, WireLayout } from "../protocol/generated.ts";
import { html, setText } from "./dom.ts";
import { Leader } from "./leader.ts";
import type { Stage } from "./stage.ts";

const MOST = 3;
const SHOWN_CHARS = 110;
const WIDTH = 186;
const GAP = 44;
const BETWEEN = 8;

interface Callout {
  readonly element: HTMLElement;
  readonly count: HTMLElement;
  readonly text: Text;
  readonly leader: Leader;
}

export class Callouts {
  /** Below the graph, for views without a margin. */
  readonly dock = html("div", { class: "dock" });
  private readonly open = new Map<string, Callout>();

  constructor(
    private readonly stage: Stage,
    private readonly index: GraphIndex,
    private readonly layout: WireLayout,
  ) {}

  update(snapshot: Snapshot): void {
    const streaming = newest(snapshot);
    for (const [id, callout] of this.open) if (!streaming.includes(id)) this.close(id, callout);
    for (const id of streaming) {
      const state = lookUp(snapshot.nodes, id);
      if (state !== undefined) this.fill(this.callout(id), state);
    }
    this.place();
  }

  /** Puts each beside its node again: after a pan, a zoom, a new size. */
  place(): void {
    const left = this.marginLeft();
    let lowest = 8;
    for (const [id, callout] of this.byHeight()) {
      const box = lookUp(this.layout.boxes, id);
      const docked = left === null || box === undefined;
      callout.element.classList.toggle("docked", docked);
      callout.leader.show(!docked);
      if (docked) {
        if (callout.element.parentNode !== this.dock) this.dock.append(callout.element);
        continue;
      }
      if (callout.element.parentNode !== this.stage.element) this.stage.element.append(callout.element);
      const at = this.stage.screenBox(box);
      const height = callout.element.offsetHeight || 76;
      const top = Math.min(Math.max(lowest, at.y + at.h / 2 - 20), this.stage.view.h - height - 8);
      lowest = top + height + BETWEEN;
      callout.element.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
      const y = at.y + at.h / 2;
      const wanted = y > top + 12 && y < top + height - 12 ? y : top + 20;
      callout.leader.draw(at, this.stage.otherBoxes(this.layout, id, this.index.groups), { x: left, y: wanted });
    }
  }

  clear(): void {
    for (const [id, callout] of this.open) this.close(id, callout);
  }

  private callout(id: string): Callout {
    const known = this.open.get(id);
    if (known !== undefined) return known;
    const count = html("span");
    const text = document.createTextNode("");
    const name = nameOf(this.index, id);
    const element = html(
      "div",
      { class: "callout running", "data-callout": id },
      html("header", {}, html("b", {}, name), count),
      html("div", { class: "said" }, html("span", {}, text, html("i", { class: "caret" }))),
    );
    const leader = new Leader("running");
    this.stage.underlay.append(leader.element);
    const callout = { element, count, text, leader };
    this.open.set(id, callout);
    return callout;
  }

  private fill(callout: Callout, state: NodeState): void {
    const shown = tail(state.stream, SHOWN_CHARS);
    setText(callout.count, plural(state.chunks, "chunk"));
    setText(callout.text, shown === state.stream ? shown : `…${shown}`);
    callout.element.classList.toggle("over", state.status !== "running");
  }

  private close(id: string, callout: Callout): void {
    callout.element.remove();
    callout.leader.element.remove();
    this.open.delete(id);
  }

  private byHeight(): [string, Callout][] {
    const y = (id: string) => lookUp(this.layout.boxes, id)?.y ?? 0;
    return [...this.open].sort(([a], [b]) => y(a) - y(b));
  }

  /** Where the margin begins, in screen pixels; null if there is no room for a callout. */
  private marginLeft(): number | null {
    const { view } = this.stage;
    const graph = this.stage.screenBox({ x: 0, y: 0, w: this.layout.width, h: this.layout.height });
    const left = graph.x + graph.w + Math.min(GAP, Math.max(18, view.w - graph.x - graph.w - WIDTH - 12));
    return left + WIDTH + 10 <= view.w ? left : null;
  }
}

/** Nodes at work that have streamed something, latest starters first. */
function newest(snapshot: Snapshot): string[] {
  return Object.entries(snapshot.nodes)
    .filter(([, state]) => state.status === "running" && state.stream !== "")
    .sort(([, a], [, b]) => (b.started_s ?? 0) - (a.started_s ?? 0))
    .slice(0, MOST)
    .map(([id]) => id);
}
