/** The graph of the debugger: the picture as it was at the shown point, with breakpoints, gates, ring and dog-ears. */

import { atEnd } from "../core/ending.ts";
import { nodeOfInterest } from "../core/follow.ts";
import { type GraphIndex, nameOf } from "../core/index_graph.ts";
import { shownNode } from "../core/overlay.ts";
import type { Snapshot, WireBox, WireEvent } from "../protocol/generated.ts";
import type { DebugState } from "../protocol/generated_debugging.ts";
import { html, on, setAttribute } from "../view/dom.ts";
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
  /** What tells a failure in the inspector, if that is open. */
  failure(): HTMLElement | null;
  legend(): void;
  /** The view was saved by another version, whose data can't be read. */
  foreign(): boolean;
}

export class DebuggerCanvas {
  readonly stage: Stage;
  private readonly _empty = html("p.empty");
  private readonly _zoomBar: ZoomBar;
  private readonly _keyboard: Keyboard;
  private _drawing: { scene: Scene; marks: Marks; end: AbortController } | null = null;
  private _moveFrame = 0;
  private _follows = true;

  constructor(
    root: HTMLElement,
    private readonly _prefix: string,
    private readonly _actions: CanvasActions,
    private readonly _signal: AbortSignal,
    bounded: (wanted: number) => number,
  ) {
    this.stage = new Stage(null, _signal, bounded);
    const act = (action: Parameters<KeyTarget["act"]>[0]) => () => this._act(action);
    const zoom = { zoomIn: act("zoom_in"), zoomOut: act("zoom_out"), zoomFull: act("zoom_full") };
    this._zoomBar = new ZoomBar({ ...zoom, fit: act("fit"), follow: act("follow") }, _signal);
    this.stage.element.append(this._empty, this._zoomBar.element);
    this.stage.onCamera(() => {
      this._moveFrame ||= requestAnimationFrame(() => this._moved());
    });
    atEnd(_signal, () => this._end());
    this._listen();
    const target = {
      open: _actions.open,
      back: _actions.back,
      act: (action: Parameters<KeyTarget["act"]>[0]) => this._act(action),
    };
    this._keyboard = new Keyboard(root, this.stage.svg, { ...target, reveal: (id) => this._reveal(id) }, _signal);
  }

  get index(): GraphIndex | null {
    return this._drawing?.scene.index ?? null;
  }

  name(id: string): string {
    return this.index === null ? id : nameOf(this.index, id);
  }

  focus(node: string): void {
    this._keyboard.focus(node);
  }

  update(
    snapshot: Snapshot,
    state: DebugState,
    events: readonly WireEvent[],
    chosen: string | null,
    still: boolean,
  ): void {
    const { scene, marks } = this._drawingFor(snapshot);
    scene.update(snapshot, events, null);
    marks.update(state, chosen);
    const { graph } = snapshot;
    setAttribute(this.stage.svg, "aria-label", `Graph ${graph.name}, ${graph.nodes.length} nodes`);
    this._empty.textContent = this._actions.foreign()
      ? FOREIGN
      : snapshot.seq < 0
        ? "Waiting for the graph…"
        : NO_NODES;
    this._empty.hidden = graph.nodes.length > 0;
    if (!still) this._follow(snapshot, state);
  }

  tick(snapshot: Snapshot, state: DebugState): void {
    this._drawing?.scene.tick();
    this._follow(snapshot, state);
  }

  /** The inspector is as it will be: lines to it can be drawn. */
  placeCallouts(): void {
    this._drawing?.scene.placeCallouts();
  }

  private _cardBeside(): { top: number; bottom: number } | null {
    const card = this._actions.failure()?.getBoundingClientRect();
    const stage = this.stage.element.getBoundingClientRect();
    // In a narrow view it stands below the graph.
    if (card === undefined || card.left < stage.right - 2) return null;
    return { top: card.top - stage.top, bottom: card.bottom - stage.top };
  }

  private _drawingFor(snapshot: Snapshot): { scene: Scene; marks: Marks } {
    if (this._drawing?.scene.shows(snapshot)) return this._drawing;
    this._drawing?.end.abort();
    const end = new AbortController();
    // Without a margin the status bar tells what nodes stream, and the inspector what broke.
    const callouts = { dock: null, tellsFailures: true, cardBeside: () => this._cardBeside() };
    const scene = new Scene(snapshot, this.stage, this._prefix, () => this._actions.elapsedS(), callouts, end.signal);
    const marks = new Marks(snapshot.layout);
    this.stage.world.append(marks.element);
    scene.picture.putUnder(marks.under);
    const clear = () => {
      marks.element.remove();
      marks.under.remove();
    };
    atEnd(end.signal, clear);
    this._drawing = { scene, marks, end };
    this._keyboard.attach(scene);
    this.stage.setContent({ w: snapshot.layout.width, h: snapshot.layout.height });
    return this._drawing;
  }

  private _listen(): void {
    const { stage, _signal: signal, _actions: actions } = this;
    const gutter = {
      boxes: () => this._breakable(),
      hover: (node: string | null) => this._drawing?.marks.hover(node),
      toggle: (node: string) => actions.toggleBreakpoint(node),
    };
    listenForGutter(stage, gutter, signal);
    // A click chooses; only a second one, or Enter, opens: the inspector is worth more than a node's card.
    const click = (event: MouseEvent) => {
      const node = nodeAt(event.target);
      if (node === null) return;
      event.stopPropagation();
      actions.choose(node);
      this._keyboard.focus(node);
    };
    on(stage.svg, "click", click, signal, true);
    const open = (event: MouseEvent) => {
      const node = nodeAt(event.target);
      if (node !== null) actions.open(node);
    };
    on(stage.svg, "dblclick", open, signal);
    const focused = (event: FocusEvent) => {
      const node = nodeAt(event.target);
      if (node !== null) actions.choose(node);
    };
    on(stage.svg, "focusin", focused, signal);
    const menu = (event: MouseEvent) => {
      const part = event.target instanceof Element ? event.target.closest<SVGElement>("[data-node]") : null;
      const node = part?.getAttribute("data-node");
      if (!part || !node) return;
      event.preventDefault();
      event.stopPropagation(); // the notebook has a menu of its own for the whole page
      actions.choose(node);
      const box = part.getBoundingClientRect();
      const byKey = event.clientX === 0 && event.clientY === 0;
      actions.menu(node, byKey ? { x: box.left + 12, y: box.bottom } : { x: event.clientX, y: event.clientY }, part);
    };
    on(stage.svg, "contextmenu", menu, signal);
  }

  private *_breakable(): Iterable<readonly [string, WireBox]> {
    const scene = this._drawing?.scene;
    if (scene === undefined) return;
    for (const node of scene.index.graph.nodes) {
      const box = node.kind === "start" || node.kind === "end" ? null : scene.boxOf(node.id);
      if (box !== null && !scene.index.groups.has(node.id)) yield [node.id, box];
    }
  }

  private _moved(): void {
    this._moveFrame = 0;
    this._drawing?.scene.look();
    this._zoomBar.update(this.stage.camera.scale, this._follows);
  }

  private _end(): void {
    cancelAnimationFrame(this._moveFrame);
    this._drawing?.end.abort();
  }

  /** Keeps in view what is shown: in the past the shown step, live what runs or comes next. */
  private _follow(snapshot: Snapshot, state: DebugState): void {
    if (!this._follows || !this.stage.untouched()) return;
    if (snapshot.run.status === "running" && !this.stage.rested()) return; // the clock asks again
    const { looking, stopped_at, would_run } = state;
    const live = nodeOfInterest(snapshot) ?? stopped_at[0];
    // What would run next too, unless that is too far from what is shown.
    for (const id of looking === null ? [live] : [would_run[0], shownNode(state)]) if (id) this._reveal(id);
  }

  private _reveal(id: string): void {
    const box = this._drawing?.scene.boxOf(id);
    if (box) this.stage.reveal(box, !matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  private _act(action: Parameters<KeyTarget["act"]>[0]): void {
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
        return this._actions.legend();
      case "follow":
        this._follows = !this._follows;
        return this._moved();
    }
  }
}

function nodeAt(target: EventTarget | null): string | null {
  const part = target instanceof Element ? target.closest("[data-node]") : null;
  return part?.getAttribute("data-node") ?? null;
}
