/** Everything drawn for one graph in one layout: made anew when the graph is replaced, updated for all else. */

import { detailAt } from "../core/camera.ts";
import { runningSeconds } from "../core/follow.ts";
import { type GraphIndex, indexGraph } from "../core/index_graph.ts";
import { lookUp } from "../core/record.ts";
import type { Snapshot, WireBox, WireEvent, WireLayout } from "../protocol/generated.ts";
import type { Callouts } from "./callouts.ts";
import { setAttribute } from "./dom.ts";
import { Tags, WaitingNotes } from "./notes.ts";
import { Overview } from "./overview.ts";
import { Picture } from "./picture.ts";
import { Pulses } from "./pulses.ts";
import type { Stage } from "./stage.ts";

const CULL_MARGIN = 120; // drawn beyond the rim, so that a pan shows no gaps

export class Scene {
  readonly index: GraphIndex;
  readonly picture: Picture;
  /** What nodes stream, beside the graph; null where another part of the view tells it. */
  readonly callouts: Callouts | null;
  private readonly notes: WaitingNotes;
  private readonly tags: Tags;
  private readonly overview: Overview;
  private readonly pulses: Pulses;
  private snapshot: Snapshot;

  constructor(
    snapshot: Snapshot,
    private readonly stage: Stage,
    prefix: string,
    elapsedS: () => number,
    makeCallouts: ((index: GraphIndex, layout: WireLayout) => Callouts) | null,
    private readonly signal: AbortSignal,
  ) {
    this.snapshot = snapshot;
    const { graph, layout } = snapshot;
    this.index = indexGraph(graph, layout);
    this.picture = new Picture(this.index, layout, prefix, (id) => runningSeconds(this.snapshot, id, elapsedS()));
    this.notes = new WaitingNotes(this.index, layout);
    this.tags = new Tags(this.index, layout, (box) => stage.screenBox(box));
    this.callouts = makeCallouts?.(this.index, layout) ?? null;
    this.overview = new Overview(stage, layout, this.index.groups, signal);
    this.pulses = new Pulses((id) => this.picture.edgeView(id), signal);
    this.mount();
  }

  /** Whether a snapshot is about the same drawing; run states may differ. */
  shows(snapshot: Snapshot): boolean {
    const { graph, layout } = this.snapshot;
    if (graph === snapshot.graph && layout === snapshot.layout) return true;
    return same(graph, snapshot.graph) && same(layout, snapshot.layout);
  }

  update(snapshot: Snapshot, events: readonly WireEvent[], openNode: string | null): void {
    this.snapshot = snapshot;
    this.picture.update(snapshot);
    this.notes.update(snapshot);
    this.overview.update(snapshot);
    this.callouts?.update(snapshot, openNode);
    this.updateTags();
    this.pulses.show(events);
  }

  /** The camera moved. */
  look(): void {
    const detail = detailAt(this.stage.camera.scale);
    setAttribute(this.stage.svg, "class", detail === "full" ? "graph" : `graph far ${detail}`);
    this.picture.look(this.stage.visible(CULL_MARGIN));
    this.overview.place();
    this.callouts?.place();
    this.updateTags();
  }

  tick(): void {
    this.picture.tick();
  }

  get layout(): WireLayout {
    return this.snapshot.layout;
  }

  boxOf(id: string): WireBox | null {
    return lookUp(this.snapshot.layout.boxes, id) ?? null;
  }

  otherBoxes(id: string): WireBox[] {
    return this.stage.otherBoxes(this.snapshot.layout, id, this.index.groups);
  }

  private mount(): void {
    const { world, overlay, element } = this.stage;
    world.append(this.picture.element, this.notes.element);
    overlay.append(this.tags.element);
    element.append(this.overview.element);
    this.signal.addEventListener("abort", () => this.unmount(), { once: true });
  }

  private unmount(): void {
    this.callouts?.clear();
    for (const part of [this.picture, this.notes, this.tags, this.overview]) part.element.remove();
    this.callouts?.dock.remove();
  }

  private updateTags(): void {
    this.tags.update(this.snapshot, detailAt(this.stage.camera.scale) !== "full");
  }
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
