/** One view of a graph: puts the parts together, draws at most once a frame, and lets clocks run only while a run does. */

import type { Session } from "../bridge/session.ts";
import { onlyAsks } from "../core/asks.ts";
import { atEnd } from "../core/ending.ts";
import { lastNode, nodeOfInterest } from "../core/follow.ts";
import { narrate } from "../core/narrate.ts";
import { withStops } from "../core/words.ts";
import { CARD_WIDTH } from "../panels/side.ts";
import type { Snapshot, WireEvent } from "../protocol/generated.ts";
import { html, setAttribute, setText } from "../view/dom.ts";
import { Header } from "../view/header.ts";
import { Legend } from "../view/legend.ts";
import { Scene } from "../view/scene.ts";
import { followScheme } from "../view/scheme.ts";
import { Stage } from "../view/stage.ts";
import { Voice } from "../view/voice.ts";
import { ZoomBar } from "../view/zoom_bar.ts";
import { Cards } from "./cards.ts";
import { Keyboard } from "./keyboard.ts";

const CLOCK_MS = 100;
const MOST_UNTOLD = 400; // events that a hidden page has still to draw and tell; older ones are history
const ZOOM_STEP = 1.25;

export class GraphView {
  readonly element: HTMLElement;
  private readonly _stage: Stage;
  private readonly _header = new Header();
  private readonly _legend = new Legend();
  /** Below the graph: what nodes stream where it has no margin. */
  private readonly _dock = html("div.dock");
  private readonly _empty = html("p.empty");
  private readonly _zoomBar: ZoomBar;
  private readonly _voice: Voice;
  private readonly _cards: Cards;
  private readonly _keyboard: Keyboard;
  private readonly _prefix = `evo-${Math.random().toString(36).slice(2, 9)}`;
  private _scene: { drawing: Scene; end: AbortController } | null = null;
  private _undrawn: WireEvent[] = [];
  private _untold: WireEvent[] = [];
  private _frame = 0;
  private _moveFrame = 0;
  private _clock: ReturnType<typeof setInterval> | null = null;
  private _follows = true;
  private _followedEnd = "";
  private _width = 0;

  constructor(
    private readonly _session: Session,
    private readonly _signal: AbortSignal,
  ) {
    this._stage = new Stage(CARD_WIDTH, _signal);
    this._cards = new Cards(_session, this._stage, () => this._schedule(), _signal);
    this._voice = new Voice(() => this._tell(), _signal);
    this._zoomBar = new ZoomBar(
      {
        zoomIn: () => this._act("zoom_in"),
        zoomOut: () => this._act("zoom_out"),
        zoomFull: () => this._act("zoom_full"),
        fit: () => this._act("fit"),
        follow: () => this._act("follow"),
      },
      _signal,
    );
    this._stage.element.append(this._empty, this._zoomBar.element, this._legend.element);
    const body = html("div.body", this._stage.element, this._dock, this._cards.side.element);
    // Jupyter's own shortcuts leave keys alone that are pressed inside an element with this attribute.
    const attributes = { class: "evo evo-live", "data-lm-suppress-shortcuts": "true" };
    this.element = html("section", attributes, this._header.element, body, this._voice.element);
    this._keyboard = new Keyboard(this.element, this._stage.svg, this._keyTarget(), _signal);
    this._listen();
  }

  /** Draws for the first time, once the element is in the page. */
  start(): void {
    followScheme(this.element, this._signal);
    this._width = this.element.clientWidth;
    this._draw();
  }

  private _listen(): void {
    const { _signal: signal, _session: session } = this;
    session.store.subscribe((_snapshot, events) => this._take(events), signal);
    session.onLiveness(() => this._schedule(), signal);
    this._stage.onCamera(() => this._moved());
    // Whether a card fits beside the graph depends on the width of the whole; read in a frame, it would cost a layout.
    const observer = new ResizeObserver(() => {
      this._width = this.element.clientWidth;
      this._schedule();
    });
    observer.observe(this.element);
    atEnd(signal, () => observer.disconnect());
    atEnd(signal, () => this._end());
  }

  private _end(): void {
    cancelAnimationFrame(this._frame);
    cancelAnimationFrame(this._moveFrame);
    if (this._clock !== null) clearInterval(this._clock);
    this._scene?.end.abort();
  }

  private _take(events: readonly WireEvent[]): void {
    this._undrawn = [...this._undrawn, ...events].slice(-MOST_UNTOLD);
    this._untold = [...this._untold, ...events].slice(-MOST_UNTOLD);
    if (events.length > 0) this._voice.stir();
    this._schedule();
  }

  private _schedule(): void {
    this._frame ||= requestAnimationFrame(() => this._draw());
  }

  private _draw(): void {
    this._frame = 0;
    if (this._signal.aborted) return;
    const snapshot = withStops(this._session.store.snapshot);
    const scene = this._sceneFor(snapshot);
    const events = this._undrawn.splice(0);
    scene.update(snapshot, events, this._cards.openNode);
    this._drawFrame(snapshot);
    this._cards.update(snapshot, scene, this.element, this._width);
    this._follow(snapshot, scene);
    this._runClock(snapshot.run.status === "running" && !onlyAsks(snapshot) && !this._isSaved);
  }

  private _drawFrame(snapshot: Snapshot): void {
    const { graph, run } = snapshot;
    const scene = this._sceneFor(snapshot);
    this._header.update(snapshot, scene.index, this._session.elapsedS(), this._isSaved);
    setAttribute(this.element, "aria-label", `Graph ${graph.name}, ${run.status}`);
    setAttribute(this._stage.svg, "aria-label", `Graph ${graph.name}, ${graph.nodes.length} nodes`);
    this.element.classList.toggle("saved", this._isSaved);
    this.element.classList.toggle("hasty", this._stage.hasty);
    const words = this._emptyWords(snapshot);
    setText(this._empty, words);
    this._empty.hidden = words === "";
  }

  /** The drawing of this snapshot's graph, made anew if the graph isn't the one drawn. */
  private _sceneFor(snapshot: Snapshot): Scene {
    if (this._scene?.drawing.shows(snapshot)) return this._scene.drawing;
    this._scene?.end.abort();
    this._cards.forget();
    const end = new AbortController();
    const callouts = { dock: this._dock, tellsFailures: false, cardBeside: () => null };
    const elapsedS = () => this._session.elapsedS();
    const drawing = new Scene(snapshot, this._stage, this._prefix, elapsedS, callouts, end.signal);
    this._scene = { drawing, end };
    this._keyboard.attach(drawing);
    this._stage.setContent({ w: snapshot.layout.width, h: snapshot.layout.height });
    return drawing;
  }

  private get _isSaved(): boolean {
    return this._session.liveness === "saved";
  }

  private _emptyWords(snapshot: Snapshot): string {
    const foreign = this._session.foreignProtocol;
    if (foreign !== null) return "This view was saved by another version of evonb. Run the cell again to see it.";
    if (snapshot.seq < 0) return "Waiting for the graph…";
    return snapshot.graph.nodes.length === 0 ? "This graph has no nodes yet. Connect some: START >> first >> END" : "";
  }

  /** The camera moved: what hangs on it follows before the next paint, once for however many moves. */
  private _moved(): void {
    this._moveFrame ||= requestAnimationFrame(() => this._afterMove());
  }

  private _afterMove(): void {
    this._moveFrame = 0;
    const drawing = this._scene?.drawing;
    if (drawing === undefined) return;
    drawing.look();
    const { snapshot } = this._session.store;
    if (snapshot.run.status === "finished" || snapshot.run.status === "failed") this._follow(snapshot, drawing);
    this._zoomBar.update(this._stage.camera.scale, this._follows);
    this._cards.tie(snapshot, drawing, this.element.classList.contains("with-side"));
  }

  private _runClock(wanted: boolean): void {
    if (wanted && this._clock === null) this._clock = setInterval(() => this._tick(), CLOCK_MS);
    if (!wanted && this._clock !== null) {
      clearInterval(this._clock);
      this._clock = null;
    }
  }

  private _tick(): void {
    if (document.hidden || this._scene === null) return;
    const { snapshot } = this._session.store;
    this._scene.drawing.tick();
    this._drawFrame(snapshot);
    this._follow(snapshot, this._scene.drawing);
  }

  private _tell(): ReturnType<typeof narrate> {
    const events = this._untold.splice(0);
    return this._scene === null ? [] : narrate(events, this._scene.drawing.index);
  }

  /** Keeps what happens in view, unless somebody is looking elsewhere. */
  private _follow(snapshot: Snapshot, scene: Scene): void {
    if (!this._follows || !this._stage.untouched()) return;
    const { run } = snapshot;
    if (run.status === "running" && !this._stage.rested()) return; // the clock asks again
    const hasEnded = run.status === "finished" || run.status === "failed";
    // The end of a run is shown once for each new look: afterwards the canvas is the reader's.
    const end = hasEnded ? `${run.run_id} ${run.status} ${this._stage.settled}` : "";
    if (hasEnded && end === this._followedEnd) return;
    this._followedEnd = end;
    const id = run.status === "finished" ? lastNode(snapshot) : nodeOfInterest(snapshot);
    if (id !== null) this._reveal(id, scene);
  }

  private _reveal(id: string, scene: Scene): void {
    const box = scene.boxOf(id);
    if (box !== null) this._stage.reveal(box, !matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  private _keyTarget(): ConstructorParameters<typeof Keyboard>[2] {
    return {
      open: (node) => this._scene !== null && void this._cards.open(node, this._scene.drawing.index),
      back: () => this._back(),
      act: (action) => this._act(action),
      reveal: (node) => this._scene !== null && this._reveal(node, this._scene.drawing),
    };
  }

  /** One step out: legend, then the card, then the view itself. */
  private _back(): boolean {
    if (this._legend.close()) return true;
    if (this._cards.canClose) {
      const node = this._cards.close();
      if (node !== null) this._keyboard.focus(node);
      return true;
    }
    // The last Escape returns to the notebook: to the cell around the view.
    const cell = this.element.closest<HTMLElement>(".jp-Notebook");
    (document.activeElement as HTMLElement | null)?.blur();
    cell?.focus({ preventScroll: true });
    return true;
  }

  private _act(action: "zoom_in" | "zoom_out" | "zoom_full" | "fit" | "follow" | "legend"): void {
    switch (action) {
      case "zoom_in":
        return this._stage.zoom(ZOOM_STEP);
      case "zoom_out":
        return this._stage.zoom(1 / ZOOM_STEP);
      case "zoom_full":
        return this._stage.zoomFull();
      case "fit":
        return this._stage.fit();
      case "legend":
        return this._legend.toggle();
      case "follow":
        this._follows = !this._follows;
        return this._moved();
    }
  }
}
