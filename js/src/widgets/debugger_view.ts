/** One view of a debugger: toolbar, graph, inspector, status bar, timeline. Draws at most once a frame. */

import type { DebugSession } from "../bridge/debug_session.ts";
import { askingNodes, onlyAsks } from "../core/asks.ts";
import type { DebugAction } from "../core/debug_keys.ts";
import { sayChange } from "../core/debug_words.ts";
import { atEnd } from "../core/ending.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { withGates } from "../core/overlay.ts";
import type { ToolName } from "../core/tools.ts";
import type { PanelView } from "../panels/desk.ts";
import { HelpSheet } from "../panels/help_sheet.ts";
import { TABS } from "../panels/inspector.ts";
import { StatusBar } from "../panels/status_bar.ts";
import { Toolbar } from "../panels/toolbar.ts";
import type { Snapshot, WireEvent } from "../protocol/generated.ts";
import type { DebugState, WireBranch } from "../protocol/generated_debugging.ts";
import { html, setAttribute } from "../view/dom.ts";
import { Menu } from "../view/menu.ts";
import { followScheme } from "../view/scheme.ts";
import { type Live, TimelineView } from "../view/timeline_view.ts";
import { Tips } from "../view/tips.ts";
import { Aside, type AsideHost } from "./debugger_aside.ts";
import { DebuggerCanvas } from "./debugger_canvas.ts";
import { Commands } from "./debugger_commands.ts";
import { listenForDebugKeys } from "./debugger_keys.ts";
import { branchItems, nodeItems } from "./debugger_menus.ts";
import { DebuggerVoice } from "./debugger_voice.ts";

const CLOCK_MS = 100;
const MOST_UNDRAWN = 400;
const NARROW_BELOW = 760;
const HEIGHTS = { narrow: 300, least: 440, most: 580 } as const;
const HELD = "The kernel is busy in a cell: commands wait until that cell has finished";
const TOOL_KEYS: readonly DebugAction[] = ["resume", "pause", "step_wave", "step_one", "step_back", "run_to", "stop"];

export class DebuggerView implements AsideHost {
  readonly element: HTMLElement;
  private readonly _prefix = `evo-${Math.random().toString(36).slice(2, 9)}`;
  private readonly _commands: Commands;
  private readonly _toolbar: Toolbar;
  private readonly _bar: StatusBar;
  private readonly _canvas: DebuggerCanvas;
  private readonly _timeline: TimelineView;
  private readonly _aside: Aside;
  private readonly _help = new HelpSheet();
  private readonly _menu: Menu;
  private readonly _voice: DebuggerVoice;
  private _undrawn: WireEvent[] = [];
  private _drawnState: DebugState | null = null;
  private _drawnLive = "";
  private _frame = 0;
  private _clock: ReturnType<typeof setInterval> | null = null;

  constructor(
    private readonly _session: DebugSession,
    private readonly _signal: AbortSignal,
  ) {
    const inner = html("div.inner");
    // Jupyter's own shortcuts leave keys alone that are pressed inside an element with this attribute.
    const attributes = { class: "evo evo-live debugger", "data-lm-suppress-shortcuts": "true", tabindex: -1 };
    this.element = html("section", attributes, inner);
    this._voice = new DebuggerVoice(() => this.index, _signal);
    this._commands = this._makeCommands();
    const help = () => this._help.toggle();
    this._toolbar = new Toolbar((name) => this._tool(name), help, _signal);
    const moves = {
      back: () => this._tool("step_back"),
      on: () => this._commands.stepForward(),
      live: () => this._commands.live(),
    };
    this._bar = new StatusBar(moves, () => this._schedule());
    listenForDebugKeys(this.element, inner, (action) => this._perform(action), _signal);
    this._aside = new Aside(_session, this._commands, this, this._prefix, _signal);
    this._canvas = this._makeCanvas();
    const travel = {
      ...moves,
      goTo: (step: number, branch: number | null) => this._commands.goTo(step, branch),
      branch: (branch: WireBranch, at: HTMLElement) => this._branchMenu(branch, at),
    };
    this._timeline = new TimelineView(travel, _signal);
    const main = html("div.main", this._canvas.stage.element, this._aside.element);
    inner.append(this._toolbar.element, main, this._bar.element, this._timeline.element, this._help.element);
    this._menu = new Menu(inner, _signal);
    new Tips(inner, _signal);
    this.element.append(this._voice.element);
    this._listen();
  }

  /** Draws for the first time, once the element is in the page. */
  start(): void {
    followScheme(this.element, this._signal);
    this._draw();
  }

  get index(): GraphIndex | null {
    return this._canvas.index;
  }

  get panelView(): PanelView {
    const { state } = this._session.debug;
    const snapshot = this._session.graph.store.snapshot;
    return { state, snapshot, nodes: snapshot.graph.nodes, names: (id) => this._canvas.name(id), saved: this._isSaved };
  }

  redraw(): void {
    this._drawnState = null;
    this._schedule();
  }

  /** One step out: menu, help, what covers the inspector, then the view itself. */
  back(): boolean {
    if (this._menu.close() || this._help.close()) return true;
    const covered = this._aside.uncover();
    if (typeof covered === "string") this._canvas.focus(covered);
    if (covered !== false) return true;
    const cell = this.element.closest<HTMLElement>(".jp-Notebook");
    (document.activeElement as HTMLElement | null)?.blur();
    cell?.focus({ preventScroll: true });
    return true;
  }

  private _makeCommands(): Commands {
    return new Commands(this._session, {
      names: (id) => this._canvas.name(id),
      say: (text, assertive = false) => this._voice.say({ text, assertive }),
      refuse: (error) => this._bar.refuse(error),
      askInputs: () => this._aside.askInputs(),
      chosenChanged: () => this.redraw(),
    });
  }

  private _makeCanvas(): DebuggerCanvas {
    const actions = {
      open: (node: string) => this._aside.open(node),
      back: () => this.back(),
      choose: (node: string) => this._commands.choose(node),
      toggleBreakpoint: (node: string) => this._commands.toggleBreakpoint(node),
      menu: (node: string, at: { x: number; y: number }, from: SVGElement) => this._nodeMenu(node, at, from),
      legend: () => this._help.toggle(),
      foreign: () => this._session.graph.foreignProtocol !== null,
      failure: () => this._aside.failure,
      elapsedS: () => this._session.debug.picture?.run.elapsed_s ?? this._session.graph.elapsedS(),
    };
    const bounded = (wanted: number) =>
      this.element.clientWidth < NARROW_BELOW
        ? HEIGHTS.narrow
        : Math.min(HEIGHTS.most, Math.max(HEIGHTS.least, wanted));
    return new DebuggerCanvas(this.element, this._prefix, actions, this._signal, bounded);
  }

  private _listen(): void {
    const { _signal: signal, _session: session } = this;
    session.graph.store.subscribe((_snapshot, events) => this._take(events), signal);
    session.graph.onLiveness(() => this.redraw(), signal);
    session.onHeld(() => this._schedule(), signal);
    session.debug.subscribe((state, before) => this._changed(state, before), signal);
    const observer = new ResizeObserver(() => this._schedule());
    observer.observe(this.element);
    const end = () => {
      observer.disconnect();
      cancelAnimationFrame(this._frame);
      if (this._clock !== null) clearInterval(this._clock);
    };
    atEnd(signal, end);
  }

  private _take(events: readonly WireEvent[]): void {
    this._undrawn = [...this._undrawn, ...events].slice(-MOST_UNDRAWN);
    this._voice.take(events);
    this._schedule();
  }

  private _changed(state: DebugState, before: DebugState): void {
    this._voice.say(...sayChange(state, before, this._session.graph.store.snapshot, (id) => this._canvas.name(id)));
    this._schedule();
  }

  private _schedule(): void {
    this._frame ||= requestAnimationFrame(() => this._draw());
  }

  /** The picture of the shown point; its graph is always the one that is drawn, so that going back moves nothing. */
  private _shown(): Snapshot {
    const live = this._session.graph.store.snapshot;
    const { picture, state } = this._session.debug;
    const shown = picture === null ? live : { ...picture, graph: live.graph, layout: live.layout };
    return withGates(shown, state);
  }

  private get _isSaved(): boolean {
    return this._session.graph.liveness === "saved";
  }

  private _draw(): void {
    this._frame = 0;
    if (this._signal.aborted) return;
    const { state } = this._session.debug;
    const isPast = state.looking !== null;
    const events = this._undrawn.splice(0);
    this._canvas.update(this._shown(), state, isPast ? [] : events, this._commands.chosen, this._isSaved);
    this._drawFrame();
    const view = this.panelView;
    // What the live run does shows in the list of what waits and at the timeline's end; all else only changes with the
    // session's state. While a node asks no state may come for long.
    const live = liveNodes(view);
    const isLiveNew = JSON.stringify(live) !== this._drawnLive;
    if (state !== this._drawnState || isLiveNew || this._aside.openTab === "Waiting") {
      this._drawnLive = JSON.stringify(live);
      this._aside.update(view);
      this._timeline.update(state, view.names, live);
      this._canvas.placeCallouts();
    }
    this._drawnState = state;
    this._aside.refresh(view);
    this._runClock(view.snapshot.run.status === "running" && !onlyAsks(view.snapshot) && !isPast && !this._isSaved);
  }

  private _drawFrame(): void {
    const view = this.panelView;
    const { chosen } = this._commands;
    this._toolbar.update(view, chosen === null ? null : view.names(chosen), this._session.isHeld ? HELD : "");
    this._bar.update(view);
    this.element.classList.toggle("in-past", view.state.looking !== null);
    this.element.classList.toggle("saved", view.saved);
    this.element.classList.toggle("hasty", this._canvas.stage.hasty || view.state.status === "paused");
    setAttribute(this.element, "aria-label", `Debugger of ${view.snapshot.graph.name}, ${view.state.status}`);
  }

  private _runClock(wanted: boolean): void {
    if (wanted && this._clock === null) this._clock = setInterval(() => this._tick(), CLOCK_MS);
    if (!wanted && this._clock !== null) {
      clearInterval(this._clock);
      this._clock = null;
    }
  }

  private _tick(): void {
    if (document.hidden) return;
    this._canvas.tick(this._shown(), this._session.debug.state);
    this._drawFrame();
  }

  private _tool(name: ToolName): void {
    if (!this._isSaved) this._commands.tool(name);
  }

  private _perform(action: DebugAction): boolean {
    if (this._menu.isOpen) return false;
    if (action === "help") this._help.toggle();
    else if (action.startsWith("tab_")) this._aside.show(TABS[Number(action.slice(4)) - 1] ?? "State");
    else if (!this._isSaved) this._command(action);
    return true;
  }

  private _command(action: DebugAction): void {
    const { chosen } = this._commands;
    if (TOOL_KEYS.includes(action)) return this._commands.tool(action as ToolName);
    switch (action) {
      case "step_forward":
        return this._commands.stepForward();
      case "step_into":
      case "step_out":
        return this._commands.stepInner(action);
      case "first":
        return this._commands.goTo(0, null);
      case "live":
        return this._commands.live();
      case "breakpoint":
        if (chosen !== null) return this._commands.toggleBreakpoint(chosen);
        return this._commands.say("Choose a node in the graph first.");
      case "condition":
        return this._aside.breakpointForm(chosen);
      case "edit":
        return this._aside.editState();
      case "why":
        return this._aside.why();
      case "answer":
        return this._aside.answer();
    }
  }

  private _nodeMenu(node: string, at: { x: number; y: number }, from: SVGElement): void {
    if (this._isSaved) return;
    const items = nodeItems(node, this._session.debug.state, this._commands, this._aside);
    this._menu.open(this._canvas.name(node), items, at, from);
  }

  private _branchMenu(branch: WireBranch, from: HTMLElement): void {
    const items = branchItems(branch, this._session.debug.state, this._commands, this._aside);
    const box = from.getBoundingClientRect();
    this._menu.open(branch.name, items, { x: box.right, y: box.top }, from);
  }
}

/** What the session stands before, or, while it runs, is at work at. */
function liveNodes({ state, snapshot }: PanelView): Live {
  if (onlyAsks(snapshot)) return { nodes: askingNodes(snapshot), look: "waiting" };
  // A sub-graph that stands inside runs, but not now.
  if (state.status === "paused") return { nodes: state.stopped_at, look: "paused" };
  const running = Object.entries(snapshot.nodes).filter(([, node]) => node.status === "running");
  if (running.length > 0) return { nodes: running.map(([id]) => id), look: "running" };
  return { nodes: [], look: "paused" };
}
