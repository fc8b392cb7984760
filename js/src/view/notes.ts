/**
 * Words beside nodes. At a size that can be read: who has arrived at a join and whom it waits for, and the tool at work
 * in a node. At smaller sizes: a label of fixed size for each node that matters now, so that a big graph still says what
 * runs and what broke.
 */

import { asks } from "../core/asks.ts";
import { contains, overlaps } from "../core/camera.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { nameOf } from "../core/index_graph.ts";
import { lookUp } from "../core/record.ts";
import { cut } from "../core/text.ts";
import { toolAtWork } from "../core/tool_words.ts";
import { arrivedWords, missingWords } from "../core/words.ts";
import type { NodeState, NodeStatus, Snapshot, WireBox, WireLayout } from "../protocol/generated.ts";
import { setText, svg } from "./dom.ts";

const TOLD: readonly NodeStatus[] = ["failed", "paused", "running", "waiting"];
const MOST_TAGS = 40;
const NOTE = { beside: 12, letter: 6.4, line: 15, base: 12, under: 4 } as const;

interface Place {
  readonly x: number;
  readonly anchor: "start" | "end";
  readonly spot: WireBox;
}

interface Note {
  readonly state: NodeState;
  readonly words: string;
  readonly element: SVGGElement;
}

/** Notes of waiting joins and of tools at work, drawn into a layer that scales with the picture. */
export class Notes {
  readonly element = svg("g.notes");
  private _drawn = new Map<string, Note>();

  constructor(
    private readonly _index: GraphIndex,
    private readonly _layout: WireLayout,
    /** Whether a callout tells of a node, and so of its tool. */
    private readonly _isTold: (id: string) => boolean,
  ) {}

  update(snapshot: Snapshot, elapsedS: number): void {
    for (const { id } of this._index.graph.nodes) {
      const state = lookUp(snapshot.nodes, id);
      const lines = this._lines(id, state, elapsedS);
      const known = this._drawn.get(id);
      if (known === undefined && lines.length === 0) continue;
      const words = lines.join("\n");
      // A clock goes on in its place.
      const line = known?.state === state && lines.length === 1 ? known?.element.firstChild : null;
      if (line && words !== "") setText(line, words);
      else if (known?.state !== state || known?.words !== words) this._redraw(id, state, lines);
    }
  }

  private _lines(id: string, state: NodeState | undefined, elapsedS: number): string[] {
    if (state === undefined || asks(state)) return [];
    if (state.status === "waiting") return [arrivedWords(state), missingWords(state, this._index)];
    const tool = toolAtWork(state, elapsedS);
    return tool === "" || this._isTold(id) ? [] : [tool];
  }

  private _redraw(id: string, state: NodeState | undefined, lines: readonly string[]): void {
    this._drawn.get(id)?.element.remove();
    this._drawn.delete(id);
    if (state !== undefined && lines.length > 0) this._draw(id, state, lines);
  }

  private _draw(id: string, state: NodeState, lines: readonly string[]): void {
    const box = lookUp(this._layout.boxes, id);
    if (box === undefined) return;
    const width = Math.max(...lines.map((line) => line.length)) * NOTE.letter;
    const high = lines.length * NOTE.line;
    const found = this._freeSpot(id, box, width, high);
    if (found === null) return;
    const text = (line: string, i: number) => {
      const at = { x: found.x, y: found.spot.y + NOTE.base + i * NOTE.line, "text-anchor": found.anchor };
      return svg("text", { class: i === 0 ? "aside" : "aside more", ...at }, line);
    };
    const element = svg(`g.${state.status}`, ...lines.map(text));
    this.element.append(element);
    this._drawn.set(id, { state, words: lines.join("\n"), element });
  }

  /**
   * Right of the node or left of it, wherever no node and no label stands; rather inside the frame around the node. One
   * line, such as a tool's, may also stand below the node, and stays within the graph.
   */
  private _freeSpot(id: string, box: WireBox, width: number, high: number): Place | null {
    const at = { y: box.y + box.h / 2 - high / 2, w: width, h: high };
    const [right, left] = [box.x + box.w + NOTE.beside, box.x - NOTE.beside];
    const sides: Place[] = [
      { x: right, anchor: "start", spot: { ...at, x: right } },
      { x: left, anchor: "end", spot: { ...at, x: left - width } },
    ];
    const free = sides.filter(({ spot }) => this._isFree(id, spot));
    const frame = lookUp(this._layout.boxes, this._index.nodes.get(id)?.parent ?? "");
    if (high > NOTE.line)
      return free.find(({ spot }) => frame === undefined || contains(frame, spot)) ?? free[0] ?? null;
    const { width: w, height: h } = this._layout;
    const within = frame ?? { x: -NOTE.beside, y: 0, w: w + 2 * NOTE.beside, h };
    return [...free, ...this._below(id, box, at)].find(({ spot }) => contains(within, spot)) ?? null;
  }

  /** Under the node, at its right end, its left end, or beside the edge that leaves it, where no edge passes. */
  private _below(id: string, { x, y, w, h }: WireBox, size: Omit<WireBox, "x">): Place[] {
    const [end, middle] = [x + w - size.w, x + w / 2];
    const starts = [end, end + NOTE.beside, x, middle + NOTE.beside, middle - NOTE.beside - size.w];
    const places = starts.map(
      (at): Place => ({ x: at, anchor: "start", spot: { ...size, x: at, y: y + h + NOTE.under } }),
    );
    const routes = Object.values(this._layout.routes);
    return places.filter(({ spot }) => this._isFree(id, spot) && routes.every(({ points }) => !passes(points, spot)));
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

/** Whether an edge goes through the spot. */
function passes(points: readonly (readonly number[])[], { x, y, w, h }: WireBox): boolean {
  return points.slice(1).some(([bx = 0, by = 0], i) => {
    const [ax = 0, ay = 0] = points[i] ?? [];
    return Math.max(ax, bx) > x && Math.min(ax, bx) < x + w && Math.max(ay, by) > y && Math.min(ay, by) < y + h;
  });
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
