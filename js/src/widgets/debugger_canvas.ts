/** The graph of the debugger: the picture as it was at the shown point, with breakpoints, gates, ring and dog-ears. */

import { nodeOfInterest } from "../core/follow.ts";
import { type GraphIndex, nameOf } from "../core/index_graph.ts";
import { shownStep } from "../core/overlay.ts";
import type { Snapshot, WireBox, WireEvent } from "../protocol/generated.ts";
import type { DebugState } from "../protocol/generated_debugging.ts";
import { html, setAttribute } from "../view/dom.ts";
import { listenForGutter } from "../view/gutter.ts";
import { Marks } from "../view/marks.ts";
import { Scene } from "../view/scene.ts";
import { Stage } from "../view/stage.ts";
import { ZoomBar } from "../view/zoom_bar.ts";
import { Keyboard, type KeyTarget } from "./keyboard.ts";

const ZOOM_STEP = 1.25;
const FOREIGN = "This view was saved by another version of evonb. Run the cell again to see it.";
const NO_NODES = "This graph has no nodes yet. Connect some: START >> first >> END";

export interface CanvasActions extends Pick<KeyTarget, "open" | "back"> {
  choose(node: string): void;
  toggleBreakpoint(node: string): void;
  menu(node: string, at: { x: number; y: number }, from: SVGElement): void;
  elapsedS(): number;
  legend(): void;
  /** The view was saved by another version, whose data can't be read. */
  foreign(): boolean;
}

export class DebuggerCanvas {
  readonly stage: Stage;
  private readonly empty = html("p", { class: "empty" });
  private readonly zoomBar: ZoomBar;
  private readonly keyboard: Keyboard;
  private drawing: { scene: Scene; marks: Marks; end: AbortController } | null = null;
  private moveFrame = 0;
  private follows = true;

  constructor(
    root: HTMLElement,
    private readonly prefix: string,
    private readonly actions: CanvasActions,
    private readonly signal: AbortSignal,
    bounded: (wanted: number) => number,
  ) {
    this.stage = new Stage(0, signal, bounded);
    const act = (action: Parameters<KeyTarget["act"]>[0]) => () => this.act(action);
    const zoom = { zoomIn: act("zoom_in"), zoomOut: act("zoom_out"), zoomFull: act("zoom_full") };
    this.zoomBar = new ZoomBar({ ...zoom, fit: act("fit"), follow: act("follow") }, signal);
    this.stage.element.append(this.empty, this.zoomBar.element);
    this.stage.onCamera(() => {
      this.moveFrame ||= requestAnimationFrame(() => this.moved());
    });
    signal.addEventListener("abort", () => this.end(), { once: true });
    this.listen();
    const target = {
      open: actions.open,
      back: actions.back,
      act: (action: Parameters<KeyTarget["act"]>[0]) => this.act(action),
    };
    this.keyboard = new Keyboard(root, this.stage.svg, { ...target, reveal: (id) => this.reveal(id) }, signal);
  }

  get index(): GraphIndex | null {
    return this.drawing?.scene.index ?? null;
  }

  name(id: string): string {
    return this.index === null ? id : nameOf(this.index, id);
  }

  focus(node: string): void {
    this.keyboard.focus(node);
  }

  update(
    snapshot: Snapshot,
    state: DebugState,
    events: readonly WireEvent[],
    chosen: string | null,
    still: boolean,
  ): void {
    const { scene, marks } = this.drawingFor(snapshot);
    scene.update(snapshot, events, null);
    marks.update(state, chosen);
    const { graph } = snapshot;
    setAttribute(this.stage.svg, "aria-label", `Graph ${graph.name}, ${graph.nodes.length} nodes`);
    this.empty.textContent = this.actions.foreign() ? FOREIGN : snapshot.seq < 0 ? "Waiting for the graph…" : NO_NODES;
    this.empty.hidden = graph.nodes.length > 0;
    if (!still) this.follow(snapshot, state);
  }

  tick(): void {
    this.drawing?.scene.tick();
  }

  private drawingFor(snapshot: Snapshot): { scene: Scene; marks: Marks } {
    if (this.drawing?.scene.shows(snapshot)) return this.drawing;
    this.drawing?.end.abort();
    const end = new AbortController();
    // What nodes stream is told by the status bar: the inspector stands where the callouts would.
    const scene = new Scene(snapshot, this.stage, this.prefix, () => this.actions.elapsedS(), null, end.signal);
    const marks = new Marks(snapshot.layout);
    this.stage.world.append(marks.element);
    this.stage.world.prepend(marks.under);
    const clear = () => {
      marks.element.remove();
      marks.under.remove();
    };
    end.signal.addEventListener("abort", clear, { once: true });
    this.drawing = { scene, marks, end };
    this.keyboard.attach(scene);
    this.stage.setContent({ w: snapshot.layout.width, h: snapshot.layout.height });
    return this.drawing;
  }

  private listen(): void {
    const { stage, signal, actions } = this;
    const gutter = {
      boxes: () => this.breakable(),
      hover: (node: string | null) => this.drawing?.marks.hover(node),
      toggle: (node: string) => actions.toggleBreakpoint(node),
    };
    listenForGutter(stage, gutter, signal);
    // A click chooses; only a second one, or Enter, opens: the inspector is worth more than a node's card.
    const click = (event: MouseEvent) => {
      const node = nodeAt(event.target);
      if (node === null) return;
      event.stopPropagation();
      actions.choose(node);
      this.keyboard.focus(node);
    };
    stage.svg.addEventListener("click", click, { signal, capture: true });
    const open = (event: MouseEvent) => {
      const node = nodeAt(event.target);
      if (node !== null) actions.open(node);
    };
    stage.svg.addEventListener("dblclick", open, { signal });
    const focused = (event: FocusEvent) => {
      const node = nodeAt(event.target);
      if (node !== null) actions.choose(node);
    };
    stage.svg.addEventListener("focusin", focused, { signal });
    const menu = (event: MouseEvent) => {
      const part = event.target instanceof Element ? event.target.closest<SVGElement>("[data-node]") : null;
      const node = part?.getAttribute("data-node");
      if (!part || !node) return;
      event.preventDefault();
      actions.choose(node);
      const box = part.getBoundingClientRect();
      const byKey = event.clientX === 0 && event.clientY === 0;
      actions.menu(node, byKey ? { x: box.left + 12, y: box.bottom } : { x: event.clientX, y: event.clientY }, part);
    };
    stage.svg.addEventListener("contextmenu", menu, { signal });
  }

  private *breakable(): Iterable<readonly [string, WireBox]> {
    const scene = this.drawing?.scene;
    if (scene === undefined) return;
    for (const node of scene.index.graph.nodes) {
      const box = node.kind === "start" || node.kind === "end" ? null : scene.boxOf(node.id);
      if (box !== null && !scene.index.groups.has(node.id)) yield [node.id, box];
    }
  }

  private moved(): void {
    this.moveFrame = 0;
    this.drawing?.scene.look();
    this.zoomBar.update(this.stage.camera.scale, this.follows);
  }

  private end(): void {
    cancelAnimationFrame(this.moveFrame);
    this.drawing?.end.abort();
  }

  /** Keeps in view what is shown: in the past the shown step, live what runs or comes next. */
  private follow(snapshot: Snapshot, state: DebugState): void {
    if (!this.follows || !this.stage.untouched()) return;
    const live = nodeOfInterest(snapshot) ?? state.stopped_at[0] ?? null;
    const id = state.looking === null ? live : (shownStep(state)?.node ?? null);
    if (id !== null) this.reveal(id);
  }

  private reveal(id: string): void {
    const box = this.drawing?.scene.boxOf(id);
    if (box) this.stage.reveal(box, !matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  private act(action: Parameters<KeyTarget["act"]>[0]): void {
    switch (action) {
      case "zoom_in":
        return this.stage.zoom(ZOOM_STEP);
      case "zoom_out":
        return this.stage.zoom(1 / ZOOM_STEP);
      case "zoom_full":
        return this.stage.zoomFull();
      case "fit":
        return this.stage.fit();
      case "legend":
        return this.actions.legend();
      case "follow":
        this.follows = !this.follows;
        return this.moved();
    }
  }
}

function nodeAt(target: EventTarget | null): string | null {
  const part = target instanceof Element ? target.closest("[data-node]") : null;
  return part?.getAttribute("data-node") ?? null;
}
