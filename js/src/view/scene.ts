/** Everything drawn for one graph in one layout: made anew when the graph is replaced, updated for all else. */

import { type Detail, detailAt } from "../core/camera.ts";
import { atEnd } from "../core/ending.ts";
import { runningSeconds } from "../core/follow.ts";
import { type GraphIndex, indexGraph } from "../core/index_graph.ts";
import { lookUp } from "../core/record.ts";
import { Tempo } from "../core/tempo.ts";
import type { Snapshot, WireBox, WireEvent, WireLayout } from "../protocol/generated.ts";
import { type CalloutHost, Callouts } from "./callouts.ts";
import { setAttribute } from "./dom.ts";
import { GEOMETRY } from "./glyph.ts";
import { Notes, Tags } from "./notes.ts";
import { Overview } from "./overview.ts";
import { Picture } from "./picture.ts";
import { Pulses } from "./pulses.ts";
import type { Stage } from "./stage.ts";

const CULL_MARGIN = 120; // drawn beyond the rim, so that a pan shows no gaps

export class Scene {
  readonly index: GraphIndex;
  readonly picture: Picture;
  private readonly _callouts: Callouts;
  private readonly _notes: Notes;
  private readonly _tags: Tags;
  private readonly _overview: Overview;
  private readonly _pulses: Pulses;
  private readonly _tempo = new Tempo();
  private readonly _nodeH: number;
  private _snapshot: Snapshot;

  constructor(
    snapshot: Snapshot,
    private readonly _stage: Stage,
    prefix: string,
    private readonly _elapsedS: () => number,
    callouts: CalloutHost,
    private readonly _signal: AbortSignal,
  ) {
    this._snapshot = snapshot;
    const { graph, layout } = snapshot;
    this.index = indexGraph(graph, layout);
    this._nodeH = nodeHeight(this.index, layout);
    this.picture = new Picture(this.index, layout, prefix, (id) => runningSeconds(this._snapshot, id, _elapsedS()));
    this._tags = new Tags(this.index, layout, (box) => _stage.screenBox(box));
    this._callouts = new Callouts(_stage, this.index, layout, callouts);
    this._notes = new Notes(this.index, layout, (id) => this._callouts.tells(id));
    this._overview = new Overview(_stage, layout, this.index.groups, _signal);
    this._pulses = new Pulses((id) => this.picture.edgeView(id), _signal);
    this._mount();
  }

  /** Whether a snapshot is about the same drawing; run states may differ. */
  shows(snapshot: Snapshot): boolean {
    const { graph, layout } = this._snapshot;
    if (graph === snapshot.graph && layout === snapshot.layout) return true;
    return same(graph, snapshot.graph) && same(layout, snapshot.layout);
  }

  update(snapshot: Snapshot, events: readonly WireEvent[], openNode: string | null): void {
    this._snapshot = snapshot;
    this.picture.update(snapshot);
    this._overview.update(snapshot);
    this._callouts.update(snapshot, openNode, this._elapsedS());
    this._notes.update(snapshot, this._elapsedS());
    this._updateTags();
    this._pulses.show(this._keepTempo() ? [] : events);
  }

  /** The camera moved. */
  look(): void {
    const detail = this._detail;
    setAttribute(this._stage.svg, "class", detail === "full" ? "graph" : `graph far ${detail}`);
    this.picture.look(this._stage.visible(CULL_MARGIN));
    this._overview.place();
    this._callouts.place();
    this._updateTags();
  }

  /** What stands beside the stage came or went. */
  placeCallouts(): void {
    this._callouts.place();
  }

  tick(): void {
    this.picture.tick();
    this._callouts.tick(this._snapshot, this._elapsedS());
    this._notes.update(this._snapshot, this._elapsedS());
    this._keepTempo();
  }

  get layout(): WireLayout {
    return this._snapshot.layout;
  }

  boxOf(id: string): WireBox | null {
    return lookUp(this._snapshot.layout.boxes, id) ?? null;
  }

  otherBoxes(id: string): WireBox[] {
    return this._stage.otherBoxes(this._snapshot.layout, id, this.index.groups);
  }

  /** Whether too much happens for anything to move. */
  private _keepTempo(): boolean {
    const { status, turns } = this._snapshot.run;
    this._stage.hasty = this._tempo.note(turns, performance.now()) && status === "running";
    return this._stage.hasty;
  }

  private _mount(): void {
    const { world, overlay, element } = this._stage;
    world.append(this.picture.element, this._notes.element);
    overlay.append(this._tags.element);
    element.append(this._overview.element);
    atEnd(this._signal, () => this._unmount());
  }

  private _unmount(): void {
    this._callouts.clear();
    for (const part of [this.picture, this._notes, this._tags, this._overview]) part.element.remove();
  }

  private get _detail(): Detail {
    return detailAt(this._stage.camera.scale, this._nodeH);
  }

  private _updateTags(): void {
    this._tags.update(this._snapshot, this._detail !== "full");
  }
}

/** All nodes of a layout have one height; sub-graphs, start and end have others. */
function nodeHeight({ graph, groups }: GraphIndex, layout: WireLayout): number {
  const node = graph.nodes.find(({ id, kind }) => kind !== "start" && kind !== "end" && !groups.has(id));
  return (node && lookUp(layout.boxes, node.id)?.h) ?? GEOMETRY.density.normal.node_height;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
