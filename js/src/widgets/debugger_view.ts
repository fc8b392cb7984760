/** One view of a debugger: toolbar, graph, inspector, status bar, timeline. Draws at most once a frame. */

import type { DebugSession } from "../bridge/debug_session.ts";
import type { DebugAction } from "../core/debug_keys.ts";
import { sayChange } from "../core/debug_words.ts";
import { fieldsOf } from "../core/form.ts";
import { narrate, type Speech } from "../core/narrate.ts";
import { withGates } from "../core/overlay.ts";
import type { ToolName } from "../core/tools.ts";
import { branchForm } from "../panels/branch_form.ts";
import { BreakpointsPanel } from "../panels/breakpoints_panel.ts";
import { ComparePanel } from "../panels/compare_panel.ts";
import type { PanelView } from "../panels/desk.ts";
import { DetailsCard } from "../panels/details.ts";
import { FailureCard } from "../panels/failure_card.ts";
import { HelpSheet } from "../panels/help_sheet.ts";
import { Inspector, TABS, type TabName } from "../panels/inspector.ts";
import { LogPanel } from "../panels/log_panel.ts";
import { MessagesPanel } from "../panels/messages_panel.ts";
import { StatePanel } from "../panels/state_panel.ts";
import { StatusBar } from "../panels/status_bar.ts";
import { Toolbar } from "../panels/toolbar.ts";
import { WaitingPanel } from "../panels/waiting_panel.ts";
import { WhyPanel } from "../panels/why_panel.ts";
import type { Snapshot, WireEvent } from "../protocol/generated.ts";
import type { DebugState, WireBranch } from "../protocol/generated_debugging.ts";
import { html, setAttribute } from "../view/dom.ts";
import { Menu, type MenuItem } from "../view/menu.ts";
import { followScheme } from "../view/scheme.ts";
import { type Live, TimelineView } from "../view/timeline_view.ts";
import { Tips } from "../view/tips.ts";
import { Voice } from "../view/voice.ts";
import { DebuggerCanvas } from "./debugger_canvas.ts";
import { Commands } from "./debugger_commands.ts";
import { listenForDebugKeys } from "./debugger_keys.ts";

const CLOCK_MS = 100;
const MOST_UNTOLD = 400;
const NARROW_BELOW = 760;
const HEIGHTS = { narrow: 300, least: 440, most: 580 } as const;
const HELD = "The kernel is busy in a cell: commands wait until that cell has finished";
const TOOL_KEYS: readonly DebugAction[] = ["resume", "pause", "step_wave", "step_one", "step_back", "run_to", "stop"];

export class DebuggerView {
  readonly element: HTMLElement;
  private readonly _prefix = `evo-${Math.random().toString(36).slice(2, 9)}`;
  private readonly _commands: Commands;
  private readonly _toolbar: Toolbar;
  private readonly _bar: StatusBar;
  private readonly _canvas: DebuggerCanvas;
  private readonly _timeline: TimelineView;
  private readonly _inspector: Inspector;
  private readonly _failure: FailureCard;
  private readonly _panels: ReturnType<DebuggerView["_makePanels"]>;
  private readonly _help = new HelpSheet();
  private readonly _menu: Menu;
  private readonly _voice: Voice;
  private _undrawn: WireEvent[] = [];
  private _untold: WireEvent[] = [];
  private _speeches: Speech[] = [];
  private _opened: DetailsCard | null = null;
  private _drawnState: DebugState | null = null;
  private _frame = 0;
  private _clock: ReturnType<typeof setInterval> | null = null;

  constructor(
    private readonly _session: DebugSession,
    private readonly _signal: AbortSignal,
  ) {
    const inner = html("div", { class: "inner" });
    // Jupyter's own shortcuts leave keys alone that are pressed inside an element with this attribute.
    const attributes = { class: "evo evo-live debugger", "data-lm-suppress-shortcuts": "true", tabindex: -1 };
    this.element = html("section", attributes, inner);
    this._commands = this._makeCommands();
    this._voice = new Voice(() => this._tell(), _signal);
    this._toolbar = new Toolbar(
      (name) => this._tool(name),
      () => this._help.toggle(),
      _signal,
    );
    const moves = {
      back: () => this._tool("step_back"),
      on: () => this._commands.stepForward(),
      live: () => this._commands.live(),
    };
    this._bar = new StatusBar(moves, () => this._schedule());
    listenForDebugKeys(this.element, inner, (action) => this._perform(action), _signal);
    this._canvas = this._makeCanvas();
    this._panels = this._makePanels();
    const ways = {
      edit: () => this._editState(),
      skip: (task: Parameters<WaitingPanel["skip"]>[0]) => this._skip(task),
    };
    this._failure = new FailureCard(this._commands, ways, _signal);
    this._inspector = new Inspector(this._panels, this._failure.element, this._prefix, _signal);
    this._timeline = new TimelineView(
      {
        goTo: (step, branch) => this._commands.goTo(step, branch),
        ...moves,
        branch: (branch, at) => this._branchMenu(branch, at),
      },
      _signal,
    );
    const main = html("div", { class: "main" }, this._canvas.stage.element, this._inspector.element);
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

  private _makeCommands(): Commands {
    return new Commands(this._session, {
      names: (id) => this._canvas.name(id),
      say: (text, assertive = false) => this._speak({ text, assertive }),
      refuse: (error) => this._bar.refuse(error),
      askInputs: () => this._askInputs(),
      chosenChanged: () => {
        this._drawnState = null;
        this._schedule();
      },
    });
  }

  private _makeCanvas(): DebuggerCanvas {
    const actions = {
      open: (node: string) => void this._open(node),
      back: () => this._back(),
      choose: (node: string) => this._commands.choose(node),
      toggleBreakpoint: (node: string) => this._commands.toggleBreakpoint(node),
      menu: (node: string, at: { x: number; y: number }, from: SVGElement) => this._nodeMenu(node, at, from),
      legend: () => this._help.toggle(),
      foreign: () => this._session.graph.foreignProtocol !== null,
      elapsedS: () => this._session.debug.picture?.run.elapsed_s ?? this._session.graph.elapsedS(),
    };
    const bounded = (wanted: number) =>
      this.element.clientWidth < NARROW_BELOW
        ? HEIGHTS.narrow
        : Math.min(HEIGHTS.most, Math.max(HEIGHTS.least, wanted));
    return new DebuggerCanvas(this.element, this._prefix, actions, this._signal, bounded);
  }

  private _makePanels() {
    return {
      State: new StatePanel(this._commands, () => this._redrawPanels(), this._signal),
      Messages: new MessagesPanel(),
      Waiting: new WaitingPanel(this._commands),
      Breakpoints: new BreakpointsPanel(this._commands),
      Why: new WhyPanel(this._commands),
      Log: new LogPanel(),
    } as const;
  }

  private _listen(): void {
    const { _signal: signal, _session: session } = this;
    session.graph.store.subscribe((_snapshot, events) => this._take(events), signal);
    session.graph.onLiveness(() => this._redrawPanels(), signal);
    session.onHeld(() => this._schedule(), signal);
    session.debug.subscribe((state, before) => this._changed(state, before), signal);
    const observer = new ResizeObserver(() => this._schedule());
    observer.observe(this.element);
    const end = () => {
      observer.disconnect();
      cancelAnimationFrame(this._frame);
      if (this._clock !== null) clearInterval(this._clock);
    };
    signal.addEventListener("abort", end, { once: true });
  }

  private _take(events: readonly WireEvent[]): void {
    this._undrawn = [...this._undrawn, ...events].slice(-MOST_UNTOLD);
    this._untold = [...this._untold, ...events].slice(-MOST_UNTOLD);
    if (events.length > 0) this._voice.stir();
    this._schedule();
  }

  private _changed(state: DebugState, before: DebugState): void {
    const speeches = sayChange(state, before, this._session.graph.store.snapshot, (id) => this._canvas.name(id));
    for (const speech of speeches) this._speak(speech);
    this._schedule();
  }

  private _redrawPanels(): void {
    this._drawnState = null;
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

  private get _panelView(): PanelView {
    const { state } = this._session.debug;
    const snapshot = this._session.graph.store.snapshot;
    return { state, snapshot, nodes: snapshot.graph.nodes, names: (id) => this._canvas.name(id), saved: this._isSaved };
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
    const view = this._panelView;
    // What the live run does shows in the list of what waits; all else only changes with the session's state.
    if (state !== this._drawnState || this._inspector.openTab === "Waiting") {
      this._inspector.update(view);
      this._failure.update(view);
      this._timeline.update(state, view.names, this._liveNodes(view));
    }
    this._drawnState = state;
    this._timeline.fit();
    this._refreshOpened(view);
    this._runClock(view.snapshot.run.status === "running" && !isPast && !this._isSaved);
  }

  /** What the session stands before, or, while it runs, is at work at. */
  private _liveNodes({ state, snapshot }: PanelView): Live {
    const running = Object.entries(snapshot.nodes).filter(([, node]) => node.status === "running");
    if (running.length > 0) return { nodes: running.map(([id]) => id), look: "running" };
    return { nodes: state.status === "paused" ? state.stopped_at : [], look: "paused" };
  }

  private _drawFrame(): void {
    const view = this._panelView;
    const { chosen } = this._commands;
    this._toolbar.update(view, chosen === null ? null : view.names(chosen), this._session.isHeld ? HELD : "");
    this._bar.update(view);
    this.element.classList.toggle("in-past", view.state.looking !== null);
    this.element.classList.toggle("saved", view.saved);
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
    this._canvas.tick();
    this._bar.update(this._panelView);
  }

  private _speak(speech: Speech): void {
    this._speeches.push(speech);
    this._voice.stir();
  }

  /** What happened and what changed, one text for each urgency. Stops and failures are told by the session's state. */
  private _tell(): Speech[] {
    const { index } = this._canvas;
    const events = this._untold.splice(0).filter((event) => event.type !== "run_paused" && event.type !== "run_failed");
    const all = [...(index === null ? [] : narrate(events, index)), ...this._speeches.splice(0)];
    return [false, true].flatMap((assertive) => {
      const text = all
        .filter((one) => one.assertive === assertive)
        .map((one) => one.text)
        .join(" ");
      return text === "" ? [] : [{ text, assertive }];
    });
  }

  private _tool(name: ToolName): void {
    if (!this._isSaved) this._commands.tool(name);
  }

  private _perform(action: DebugAction): boolean {
    if (this._menu.isOpen) return false;
    if (action === "help") this._help.toggle();
    else if (action.startsWith("tab_")) this._showTab(TABS[Number(action.slice(4)) - 1] ?? "State");
    else if (!this._isSaved) this._command(action);
    return true;
  }

  private _command(action: DebugAction): void {
    const { chosen } = this._commands;
    if (TOOL_KEYS.includes(action)) return this._commands.tool(action as ToolName);
    switch (action) {
      case "step_forward":
        return this._commands.stepForward();
      case "first":
        return this._commands.goTo(0, null);
      case "live":
        return this._commands.live();
      case "breakpoint":
        if (chosen !== null) return this._commands.toggleBreakpoint(chosen);
        return this._commands.say("Choose a node in the graph first.");
      case "condition":
        return this._breakpointForm(chosen);
      case "edit":
        return this._editState();
      case "why":
        this._showTab("Why");
        if (chosen === null) this._panels.Why.focus();
        return;
    }
  }

  private _showTab(name: TabName): void {
    this._cover(null);
    this._inspector.show(name);
  }

  private _breakpointForm(node: string | null): void {
    this._showTab("Breakpoints");
    this._panels.Breakpoints.openAt(node);
  }

  private _editState(): void {
    const reason = this._session.debug.state.allowed.edit;
    if (reason !== "") return this._commands.say(`${reason}.`);
    this._showTab("State");
    this._panels.State.edit();
  }

  private _skip(task: Parameters<WaitingPanel["skip"]>[0]): void {
    this._showTab("Waiting");
    this._panels.Waiting.skip(task, this._panelView);
  }

  /** Asks for the inputs of a run; begins it where they have been entered, or where it takes none. */
  private _askInputs(): void {
    if (fieldsOf(this._session.debug.state.input_schema).length === 0)
      return void this._commands.send({ type: "run", inputs: {} });
    this._showTab("State");
    this._panels.State.showForm(true);
    this._panels.State.update(this._panelView);
    this._panels.State.form.proceed();
  }

  private _cover(over: HTMLElement | null): void {
    this._opened = null;
    this._inspector.lay(over);
  }

  /** Opens a node's card over the inspector and asks for what the view doesn't know. */
  private async _open(id: string): Promise<void> {
    const node = this._canvas.index?.nodes.get(id);
    if (node === undefined) return;
    const card = new DetailsCard(node, () => this._back(), this._signal);
    this._cover(html("div", { class: "over" }, card.element));
    this._opened = card;
    this._refreshOpened(this._panelView);
    const reply = await this._session.graph.channel.request({ type: "inspect_node", node: id });
    if (this._opened === card) card.answer(reply);
  }

  private _refreshOpened(view: PanelView): void {
    this._opened?.update((this._session.debug.picture ?? view.snapshot).nodes[this._opened.node.id]);
  }

  /** One step out: menu, help, what covers the inspector, then the view itself. */
  private _back(): boolean {
    if (this._menu.close() || this._help.close()) return true;
    if (this._inspector.isCovered) {
      const node = this._opened?.node.id;
      this._cover(null);
      if (node !== undefined) this._canvas.focus(node);
      return true;
    }
    const cell = this.element.closest<HTMLElement>(".jp-Notebook");
    (document.activeElement as HTMLElement | null)?.blur();
    cell?.focus({ preventScroll: true });
    return true;
  }

  private _nodeMenu(node: string, at: { x: number; y: number }, from: SVGElement): void {
    if (this._isSaved) return;
    const { allowed, breakpoints } = this._session.debug.state;
    const has = breakpoints.some((one) => one.kind === "node" && one.node === node);
    const refused = allowed.breakpoint;
    const items: MenuItem[] = [
      {
        label: has ? "Remove breakpoint" : "Breakpoint",
        key: "B",
        refused,
        run: () => this._commands.toggleBreakpoint(node),
      },
      { label: "Breakpoint if…", key: "⇧B", refused, run: () => this._breakpointForm(node) },
      { label: "Run to here", key: "T", refused: allowed.run_to, run: () => this._commands.tool("run_to") },
      { label: "Why?", key: "W", run: () => this._showTab("Why") },
      { label: "Open", key: "⏎", run: () => void this._open(node) },
    ];
    this._menu.open(this._canvas.name(node), items, at, from);
  }

  private _branchMenu(branch: WireBranch, from: HTMLElement): void {
    const { state } = this._session.debug;
    const current = state.branches.find((one) => one.id === state.branch);
    const own = state.steps.filter((step) => step.branch === branch.id).map((step) => step.number);
    const end = Math.max(branch.from_step ?? 0, ...own);
    const items: MenuItem[] = [
      { label: "Go to its end", key: "", refused: state.allowed.goto, run: () => this._commands.goTo(end, branch.id) },
      { label: "Name…", key: "", run: () => this._nameBranch(branch) },
    ];
    if (current !== undefined && current.id !== branch.id) {
      const compare = () => this._compare(current, branch);
      items.push({ label: `Compare with ${current.name}`, key: "", refused: state.allowed.compare, run: compare });
    }
    const box = from.getBoundingClientRect();
    this._menu.open(branch.name, items, { x: box.right, y: box.top }, from);
  }

  private _nameBranch(branch: WireBranch): void {
    const form = branchForm(branch, this._commands, () => this._cover(null));
    this._cover(form);
    form.querySelector("input")?.select();
  }

  private _compare(a: WireBranch, b: WireBranch): void {
    const panel = new ComparePanel(
      a,
      b,
      (id) => this._canvas.name(id),
      this._commands,
      () => this._cover(null),
    );
    this._cover(panel.element);
    panel.element.focus();
  }
}
