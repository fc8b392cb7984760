/** One view of a graph: puts the parts together, draws at most once a frame, and lets clocks run only while a run does. */

import type { Session } from "../bridge/session.ts";
import { lastNode, nodeOfInterest } from "../core/follow.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { narrate } from "../core/narrate.ts";
import { CARD_WIDTH } from "../panels/side.ts";
import type { Snapshot, WireEvent, WireLayout } from "../protocol/generated.ts";
import { Callouts } from "../view/callouts.ts";
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
  private readonly stage: Stage;
  private readonly header = new Header();
  private readonly legend = new Legend();
  private readonly empty = html("p", { class: "empty" });
  private readonly zoomBar: ZoomBar;
  private readonly voice: Voice;
  private readonly cards: Cards;
  private readonly keyboard: Keyboard;
  private readonly prefix = `evo-${Math.random().toString(36).slice(2, 9)}`;
  private scene: { drawing: Scene; end: AbortController } | null = null;
  private undrawn: WireEvent[] = [];
  private untold: WireEvent[] = [];
  private frame = 0;
  private moveFrame = 0;
  private clock: ReturnType<typeof setInterval> | null = null;
  private follows = true;
  private followedEnd = "";

  constructor(
    private readonly session: Session,
    private readonly signal: AbortSignal,
  ) {
    this.stage = new Stage(CARD_WIDTH, signal);
    this.cards = new Cards(session, this.stage, () => this.schedule(), signal);
    this.voice = new Voice(() => this.tell(), signal);
    this.zoomBar = new ZoomBar(
      {
        zoomIn: () => this.act("zoom_in"),
        zoomOut: () => this.act("zoom_out"),
        zoomFull: () => this.act("zoom_full"),
        fit: () => this.act("fit"),
        follow: () => this.act("follow"),
      },
      signal,
    );
    this.stage.element.append(this.empty, this.zoomBar.element, this.legend.element);
    const body = html("div", { class: "body" }, this.stage.element, this.cards.side.element);
    // Jupyter's own shortcuts leave keys alone that are pressed inside an element with this attribute.
    const attributes = { class: "evo evo-live", "data-lm-suppress-shortcuts": "true" };
    this.element = html("section", attributes, this.header.element, body, this.voice.element);
    this.keyboard = new Keyboard(this.element, this.stage.svg, this.keyTarget(), signal);
    this.listen();
  }

  /** Draws for the first time, once the element is in the page. */
  start(): void {
    followScheme(this.element, this.signal);
    this.draw();
  }

  private listen(): void {
    const { signal, session } = this;
    session.store.subscribe((_snapshot, events) => this.take(events), signal);
    session.onLiveness(() => this.schedule(), signal);
    this.stage.onCamera(() => this.moved());
    // Whether a card fits beside the graph depends on the width of the whole.
    const observer = new ResizeObserver(() => this.schedule());
    observer.observe(this.element);
    signal.addEventListener("abort", () => observer.disconnect(), { once: true });
    signal.addEventListener("abort", () => this.end(), { once: true });
  }

  private end(): void {
    cancelAnimationFrame(this.frame);
    cancelAnimationFrame(this.moveFrame);
    if (this.clock !== null) clearInterval(this.clock);
    this.scene?.end.abort();
  }

  private take(events: readonly WireEvent[]): void {
    this.undrawn = [...this.undrawn, ...events].slice(-MOST_UNTOLD);
    this.untold = [...this.untold, ...events].slice(-MOST_UNTOLD);
    if (events.length > 0) this.voice.stir();
    this.schedule();
  }

  private schedule(): void {
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    if (this.signal.aborted) return;
    const { snapshot } = this.session.store;
    const scene = this.sceneFor(snapshot);
    const events = this.undrawn.splice(0);
    scene.update(snapshot, events, this.cards.openNode);
    this.drawFrame(snapshot);
    this.cards.update(snapshot, scene, this.element);
    this.follow(snapshot, scene);
    this.runClock(snapshot.run.status === "running" && !this.isSaved);
  }

  private drawFrame(snapshot: Snapshot): void {
    const { graph, run } = snapshot;
    const scene = this.sceneFor(snapshot);
    this.header.update(snapshot, scene.index, this.session.elapsedS(), this.isSaved);
    setAttribute(this.element, "aria-label", `Graph ${graph.name}, ${run.status}`);
    setAttribute(this.stage.svg, "aria-label", `Graph ${graph.name}, ${graph.nodes.length} nodes`);
    this.element.classList.toggle("saved", this.isSaved);
    const words = this.emptyWords(snapshot);
    setText(this.empty, words);
    this.empty.hidden = words === "";
  }

  /** The drawing of this snapshot's graph, made anew if the graph isn't the one drawn. */
  private sceneFor(snapshot: Snapshot): Scene {
    if (this.scene?.drawing.shows(snapshot)) return this.scene.drawing;
    this.scene?.end.abort();
    this.cards.forget();
    const end = new AbortController();
    const callouts = (...of: [GraphIndex, WireLayout]) => new Callouts(this.stage, ...of);
    const drawing = new Scene(snapshot, this.stage, this.prefix, () => this.session.elapsedS(), callouts, end.signal);
    if (drawing.callouts !== null) this.stage.element.after(drawing.callouts.dock);
    this.scene = { drawing, end };
    this.keyboard.attach(drawing);
    this.stage.setContent({ w: snapshot.layout.width, h: snapshot.layout.height });
    return drawing;
  }

  private get isSaved(): boolean {
    return this.session.liveness === "saved";
  }

  private emptyWords(snapshot: Snapshot): string {
    const foreign = this.session.foreignProtocol;
    if (foreign !== null) return "This view was saved by another version of evonb. Run the cell again to see it.";
    if (snapshot.seq < 0) return "Waiting for the graph…";
    return snapshot.graph.nodes.length === 0 ? "This graph has no nodes yet. Connect some: START >> first >> END" : "";
  }

  /** The camera moved: what hangs on it follows before the next paint, once for however many moves. */
  private moved(): void {
    this.moveFrame ||= requestAnimationFrame(() => this.afterMove());
  }

  private afterMove(): void {
    this.moveFrame = 0;
    const drawing = this.scene?.drawing;
    if (drawing === undefined) return;
    drawing.look();
    const { snapshot } = this.session.store;
    if (snapshot.run.status === "finished" || snapshot.run.status === "failed") this.follow(snapshot, drawing);
    this.zoomBar.update(this.stage.camera.scale, this.follows);
    this.cards.tie(snapshot, drawing, this.element.classList.contains("with-side"));
  }

  private runClock(wanted: boolean): void {
    if (wanted && this.clock === null) this.clock = setInterval(() => this.tick(), CLOCK_MS);
    if (!wanted && this.clock !== null) {
      clearInterval(this.clock);
      this.clock = null;
    }
  }

  private tick(): void {
    if (document.hidden || this.scene === null) return;
    this.scene.drawing.tick();
    this.drawFrame(this.session.store.snapshot);
  }

  private tell(): ReturnType<typeof narrate> {
    const events = this.untold.splice(0);
    return this.scene === null ? [] : narrate(events, this.scene.drawing.index);
  }

  /** Keeps what happens in view, unless somebody is looking elsewhere. */
  private follow(snapshot: Snapshot, scene: Scene): void {
    if (!this.follows || !this.stage.untouched()) return;
    const { run } = snapshot;
    const hasEnded = run.status === "finished" || run.status === "failed";
    // The end of a run is shown once for each new look: afterwards the canvas is the reader's.
    const end = hasEnded ? `${run.run_id} ${run.status} ${this.stage.settled}` : "";
    if (hasEnded && end === this.followedEnd) return;
    this.followedEnd = end;
    const id = run.status === "finished" ? lastNode(snapshot) : nodeOfInterest(snapshot);
    if (id !== null) this.reveal(id, scene);
  }

  private reveal(id: string, scene: Scene): void {
    const box = scene.boxOf(id);
    if (box !== null) this.stage.reveal(box, !matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  private keyTarget(): ConstructorParameters<typeof Keyboard>[2] {
    return {
      open: (node) => this.scene !== null && void this.cards.open(node, this.scene.drawing.index),
      back: () => this.back(),
      act: (action) => this.act(action),
      reveal: (node) => this.scene !== null && this.reveal(node, this.scene.drawing),
    };
  }

  /** One step out: legend, then the card, then the view itself. */
  private back(): boolean {
    if (this.legend.close()) return true;
    if (this.cards.canClose) {
      const node = this.cards.close();
      if (node !== null) this.keyboard.focus(node);
      return true;
    }
    // The last Escape returns to the notebook: to the cell around the view.
    const cell = this.element.closest<HTMLElement>(".jp-Notebook");
    (document.activeElement as HTMLElement | null)?.blur();
    cell?.focus({ preventScroll: true });
    return true;
  }

  private act(action: "zoom_in" | "zoom_out" | "zoom_full" | "fit" | "follow" | "legend"): void {
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
        return this.legend.toggle();
      case "follow":
        this.follows = !this.follows;
        return this.moved();
    }
  }
}
