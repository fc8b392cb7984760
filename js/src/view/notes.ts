/**
 * Words beside nodes. At a size that can be read: who has arrived at a join and whom it waits for. At smaller sizes: a
 * label of fixed size for each node that matters now, so that a big graph still says what runs and what broke.
 */

import { asks } from "../core/asks.ts";
import { contains, overlaps } from "../core/camera.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { nameOf } from "../core/index_graph.ts";
import { lookUp } from "../core/record.ts";
import { cut } from "../core/text.ts";
import { arrivedWords, missingWords } from "../core/words.ts";
import type { NodeState, NodeStatus, Snapshot, WireBox, WireLayout } from "../protocol/generated.ts";
import { svg } from "./dom.ts";

const TOLD: readonly NodeStatus[] = ["failed", "paused", "running", "waiting"];
const MOST_TAGS = 40;
const NOTE = { beside: 12, letter: 6.4, high: 30 } as const;

/** Notes of waiting joins, drawn into a layer that scales with the picture. */
export class WaitingNotes {
  readonly element = svg("g.notes");
  private _drawn = new Map<string, { state: NodeState; element: SVGGElement }>();

  constructor(
    private readonly _index: GraphIndex,
    private readonly _layout: WireLayout,
  ) {}

  update(snapshot: Snapshot): void {
    for (const node of this._index.graph.nodes) {
      if (node.join !== "all") continue;
      const state = lookUp(snapshot.nodes, node.id);
      const known = this._drawn.get(node.id);
      if (known?.state === state) continue;
      known?.element.remove();
      this._drawn.delete(node.id);
      if (state?.status === "waiting" && !asks(state)) this._draw(node.id, state);
    }
  }

  private _draw(id: string, state: NodeState): void {
    const box = lookUp(this._layout.boxes, id);
    if (box === undefined) return;
    const lines = [arrivedWords(state), missingWords(state, this._index)];
    const width = Math.max(...lines.map((line) => line.length)) * NOTE.letter;
    const spot = this._freeSpot(id, box, width);
    if (spot === null) return;
    const text = (className: string, line: string, y: number) =>
      svg("text", { class: className, x: spot.x, y, "text-anchor": spot.anchor }, line);
    const middle = box.y + box.h / 2;
    const element = svg(
      "g.waiting",
      text("aside", lines[0] ?? "", middle - 3),
      text("aside more", lines[1] ?? "", middle + 12),
    );
    this.element.append(element);
    this._drawn.set(id, { state, element });
  }

  /** Right of the node or left of it, wherever no node and no label stands; rather inside the frame around the node. */
  private _freeSpot(id: string, box: WireBox, width: number): { x: number; anchor: "start" | "end" } | null {
    const at = { y: box.y + box.h / 2 - NOTE.high / 2, w: width, h: NOTE.high };
    const sides = [
      { x: box.x + box.w + NOTE.beside, anchor: "start", spot: { ...at, x: box.x + box.w + NOTE.beside } },
      { x: box.x - NOTE.beside, anchor: "end", spot: { ...at, x: box.x - NOTE.beside - width } },
    ] as const;
    const free = sides.filter(({ spot }) => this._isFree(id, spot));
    const frame = lookUp(this._layout.boxes, this._index.nodes.get(id)?.parent ?? "");
    return free.find(({ spot }) => frame === undefined || contains(frame, spot)) ?? free[0] ?? null;
  }

  private _isFree(id: string, spot: WireBox): boolean {
    const boxes = Object.entries(this._layout.boxes).filter(
      ([other]) => other !== id && !this._index.groups.has(other),
    );
    const labels = Object.values(this._layout.routes).map((route) => route.label);
    return (
      boxes.every(([, box]) => !overlaps(spot, box)) &&
      labels.every((label) => label === null || !overlaps(spot, label))
    );
  }
}

/** Labels of fixed size for a layer that doesn't scale. */
export class Tags {
  readonly element = svg("g.tags");

  constructor(
    private readonly _index: GraphIndex,
    private readonly _layout: WireLayout,
    private readonly _screenBox: (box: WireBox) => WireBox,
  ) {}

  /** Draws all of them anew: there are few, and they move with every pan. */
  update(snapshot: Snapshot, wanted: boolean): void {
    this.element.replaceChildren(...(wanted ? this._tags(snapshot) : []));
  }

  /** The most urgent first; one that would lie on another is left out. */
  private _tags(snapshot: Snapshot): SVGTextElement[] {
    const placed: WireBox[] = [];
    return this._index.graph.nodes
      .map((node) => ({ id: node.id, status: lookUp(snapshot.nodes, node.id)?.status ?? "idle" }))
      .filter(({ status }) => TOLD.includes(status))
      .sort((a, b) => TOLD.indexOf(a.status) - TOLD.indexOf(b.status))
      .flatMap(({ id, status }) => (placed.length < MOST_TAGS ? (this._tag(id, status, placed) ?? []) : []));
  }

  private _tag(id: string, status: NodeStatus, placed: WireBox[]): SVGTextElement | null {
    const box = lookUp(this._layout.boxes, id);
    if (box === undefined) return null;
    const at = this._screenBox(box);
    const name = cut(nameOf(this._index, id), 34);
    const spot = { x: at.x + at.w + 5, y: at.y + at.h / 2 - 7, w: name.length * NOTE.letter + 8, h: 14 };
    if (placed.some((other) => overlaps(other, spot))) return null;
    placed.push(spot);
    return svg("text", { class: `tag ${status}`, x: spot.x, y: spot.y + 11 }, name);
  }
}
