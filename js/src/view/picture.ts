/**
 * The drawn graph: layers of groups, edges, nodes, labels. Keyed: each part is made once and updated only when its
 * state is another object than before. Above CULL_ABOVE nodes only what is in view is in the document.
 */

import { overlaps } from "../core/camera.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { nameOf } from "../core/index_graph.ts";
import { lookUp } from "../core/record.ts";
import type { Snapshot, WireBox, WireEdge, WireLayout } from "../protocol/generated.ts";
import { svg } from "./dom.ts";
import { EdgeView } from "./edge_view.ts";
import { GEOMETRY } from "./glyph.ts";
import { GroupView } from "./group_view.ts";
import { NodeView } from "./node_view.ts";

export const CULL_ABOVE = 300;

type Part = NodeView | GroupView;
interface Placed<V> {
  readonly box: WireBox;
  view: V | null;
}

export class Picture {
  readonly element = svg("g.picture");
  private readonly _layers = { groups: svg("g"), edges: svg("g"), nodes: svg("g"), labels: svg("g") };
  private readonly _nodes = new Map<string, Placed<Part>>();
  private readonly _edges = new Map<string, Placed<EdgeView>>();
  private readonly _culls: boolean;
  private _window: WireBox | null = null;
  private _drawn: Snapshot | null = null;

  constructor(
    private readonly _index: GraphIndex,
    private readonly _layout: WireLayout,
    private readonly _prefix: string,
    private readonly _runningS: (id: string) => number | null,
  ) {
    this._culls = _index.graph.nodes.length > CULL_ABOVE;
    const { groups, edges, nodes, labels } = this._layers;
    this.element.append(patterns(_prefix), groups, edges, nodes, labels);
    for (const node of _index.graph.nodes) {
      const box = lookUp(_layout.boxes, node.id);
      if (box !== undefined) this._nodes.set(node.id, { box, view: null });
    }
    for (const edge of _index.graph.edges) {
      const route = lookUp(_layout.routes, edge.id);
      if (route !== undefined) this._edges.set(edge.id, { box: boundsOf(route.points, route.label), view: null });
    }
  }

  /** Below the edges, above the frames of sub-graphs. */
  putUnder(element: SVGElement): void {
    this._layers.groups.after(element);
  }

  /** Brings the parts in view up to date with `snapshot`; parts whose state is the same object stay untouched. */
  update(snapshot: Snapshot): void {
    const before = this._drawn;
    this._drawn = snapshot;
    for (const [id, placed] of this._nodes) {
      const fresh = this._show(placed, () => this._makeNode(id));
      const state = lookUp(snapshot.nodes, id);
      if (fresh || (placed.view !== null && state !== (before && lookUp(before.nodes, id))))
        this._updateNode(id, placed.view);
    }
    for (const [id, placed] of this._edges) {
      const fresh = this._show(placed, () => this._makeEdge(id));
      const state = lookUp(snapshot.edges, id);
      if (fresh || (placed.view !== null && state !== (before && lookUp(before.edges, id)))) placed.view?.update(state);
    }
  }

  /** Draws the times of running nodes anew. */
  tick(): void {
    for (const [id, { view }] of this._nodes) {
      if (view !== null && this._runningS(id) !== null) this._updateNode(id, view);
    }
  }

  /** Says which part of the picture is in view; only matters for big graphs. */
  look(window: WireBox): void {
    this._window = window;
    if (this._culls && this._drawn !== null) this.update(this._drawn);
  }

  nodeElement(id: string): SVGGElement | null {
    const placed = this._nodes.get(id);
    if (placed === undefined) return null;
    if (placed.view === null) {
      placed.view = this._makeNode(id);
      this._updateNode(id, placed.view);
    }
    return placed.view?.element ?? null;
  }

  edgeView(id: string): EdgeView | null {
    return this._edges.get(id)?.view ?? null;
  }

  /** True if the part was made just now; takes it away if it is out of view. */
  private _show<V extends Part | EdgeView>(placed: Placed<V>, make: () => V | null): boolean {
    const wanted = !this._culls || (this._window !== null && overlaps(this._window, placed.box));
    if (wanted && placed.view === null) {
      placed.view = make();
      return true;
    }
    if (!wanted && placed.view !== null && !placed.view.element.contains(document.activeElement)) {
      placed.view.element.remove();
      if (placed.view instanceof EdgeView) placed.view.label?.remove();
      placed.view = null;
    }
    return false;
  }

  private _updateNode(id: string, view: Part | null): void {
    const state = this._drawn === null ? undefined : lookUp(this._drawn.nodes, id);
    view?.update(state, this._runningS(id), false);
  }

  private _makeNode(id: string): Part | null {
    const node = this._index.nodes.get(id);
    const box = lookUp(this._layout.boxes, id);
    if (node === undefined || box === undefined) return null;
    const isGroup = this._index.groups.has(id);
    const view = isGroup ? new GroupView(node, box, this._index) : new NodeView(node, box, this._index, this._prefix);
    this._layers[isGroup ? "groups" : "nodes"].append(view.element);
    return view;
  }

  private _makeEdge(id: string): EdgeView | null {
    const edge = this._index.edges.get(id);
    const route = lookUp(this._layout.routes, id);
    if (edge === undefined || route === undefined) return null;
    const ends = `${nameOf(this._index, edge.source)} → ${nameOf(this._index, edge.target)}`;
    const view = new EdgeView(edge, route, ends, this._undrawnEnd(edge));
    this._layers.edges.append(view.element);
    if (view.label !== null) this._layers.labels.append(view.label);
    return view;
  }

  private _undrawnEnd(edge: WireEdge): "source" | "target" | null {
    const hasMark = (id: string) =>
      !this._nodes.has(id) && ["start", "end"].includes(this._index.nodes.get(id)?.kind ?? "");
    return hasMark(edge.target) ? "target" : hasMark(edge.source) ? "source" : null;
  }
}

function boundsOf(points: readonly (readonly number[])[], label: WireBox | null): WireBox {
  const xs = points.map(([x = 0]) => x);
  const ys = points.map(([, y = 0]) => y);
  if (label !== null) {
    xs.push(label.x, label.x + label.w);
    ys.push(label.y, label.y + label.h);
  }
  const x = Math.min(...xs);
  const y = Math.min(...ys);
  return { x, y, w: Math.max(1, Math.max(...xs) - x), h: Math.max(1, Math.max(...ys) - y) };
}

function patterns(prefix: string): SVGDefsElement {
  const defs = svg("defs");
  for (const [name, pattern] of Object.entries(GEOMETRY.patterns)) {
    const turn = pattern.rotate === 0 ? null : `rotate(${pattern.rotate})`;
    const { size } = pattern;
    defs.append(
      svg(
        "pattern",
        { id: `${prefix}-${name}`, width: size, height: size, patternUnits: "userSpaceOnUse", patternTransform: turn },
        svg("path", { class: pattern.class, d: pattern.d }),
      ),
    );
  }
  return defs;
}
