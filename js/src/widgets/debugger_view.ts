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
  private readonly prefix = `evo-${Math.random().toString(36).slice(2, 9)}`;
  private readonly commands: Commands;
  private readonly toolbar: Toolbar;
  private readonly bar: StatusBar;
  private readonly canvas: DebuggerCanvas;
  private readonly timeline: TimelineView;
  private readonly inspector: Inspector;
  private readonly failure: FailureCard;
  private readonly panels: ReturnType<DebuggerView["makePanels"]>;
  private readonly help = new HelpSheet();
  private readonly menu: Menu;
  private readonly voice: Voice;
  private undrawn: WireEvent[] = [];
  private untold: WireEvent[] = [];
  private speeches: Speech[] = [];
  private opened: DetailsCard | null = null;
  private drawnState: DebugState | null = null;
  private frame = 0;
  private clock: ReturnType<typeof setInterval> | null = null;

  constructor(
    private readonly session: DebugSession,
    private readonly signal: AbortSignal,
  ) {
    const inner = html("div", { class: "inner" });
    // Jupyter's own shortcuts leave keys alone that are pressed inside an element with this attribute.
    const attributes = { class: "evo evo-live debugger", "data-lm-suppress-shortcuts": "true", tabindex: -1 };
    this.element = html("section", attributes, inner);
    this.commands = this.makeCommands();
    this.voice = new Voice(() => this.tell(), signal);
    this.toolbar = new Toolbar(
      (name) => this.tool(name),
      () => this.help.toggle(),
      signal,
    );
    const moves = {
      back: () => this.tool("step_back"),
      on: () => this.commands.stepForward(),
      live: () => this.commands.live(),
    };
    this.bar = new StatusBar(moves, () => this.schedule());
    listenForDebugKeys(this.element, inner, (action) => this.perform(action), signal);
    this.canvas = this.makeCanvas();
    this.panels = this.makePanels();
    const ways = { edit: () => this.editState(), skip: (task: Parameters<WaitingPanel["skip"]>[0]) => this.skip(task) };
    this.failure = new FailureCard(this.commands, ways, signal);
    this.inspector = new Inspector(this.panels, this.failure.element, this.prefix, signal);
    this.timeline = new TimelineView(
      {
        goTo: (step, branch) => this.commands.goTo(step, branch),
        ...moves,
        branch: (branch, at) => this.branchMenu(branch, at),
      },
      signal,
    );
    const main = html("div", { class: "main" }, this.canvas.stage.element, this.inspector.element);
    inner.append(this.toolbar.element, main, this.bar.element, this.timeline.element, this.help.element);
    this.menu = new Menu(inner, signal);
    new Tips(inner, signal);
    this.element.append(this.voice.element);
    this.listen();
  }

  /** Draws for the first time, once the element is in the page. */
  start(): void {
    followScheme(this.element, this.signal);
    this.draw();
  }

  private makeCommands(): Commands {
    return new Commands(this.session, {
      names: (id) => this.canvas.name(id),
      say: (text, assertive = false) => this.speak({ text, assertive }),
      refuse: (error) => this.bar.refuse(error),
      askInputs: () => this.askInputs(),
      chosenChanged: () => {
        this.drawnState = null;
        this.schedule();
      },
    });
  }

  private makeCanvas(): DebuggerCanvas {
    const actions = {
      open: (node: string) => void this.open(node),
      back: () => this.back(),
      choose: (node: string) => this.commands.choose(node),
      toggleBreakpoint: (node: string) => this.commands.toggleBreakpoint(node),
      menu: (node: string, at: { x: number; y: number }, from: SVGElement) => this.nodeMenu(node, at, from),
      legend: () => this.help.toggle(),
      foreign: () => this.session.graph.foreignProtocol !== null,
      elapsedS: () => this.session.debug.picture?.run.elapsed_s ?? this.session.graph.elapsedS(),
    };
    const bounded = (wanted: number) =>
      this.element.clientWidth < NARROW_BELOW
        ? HEIGHTS.narrow
        : Math.min(HEIGHTS.most, Math.max(HEIGHTS.least, wanted));
    return new DebuggerCanvas(this.element, this.prefix, actions, this.signal, bounded);
  }

  private makePanels() {
    return {
      State: new StatePanel(this.commands, () => this.redrawPanels(), this.signal),
      Messages: new MessagesPanel(),
      Waiting: new WaitingPanel(this.commands),
      Breakpoints: new BreakpointsPanel(this.commands),
      Why: new WhyPanel(this.commands),
      Log: new LogPanel(),
    } as const;
  }

  private listen(): void {
    const { signal, session } = this;
    session.graph.store.subscribe((_snapshot, events) => this.take(events), signal);
    session.graph.onLiveness(() => this.redrawPanels(), signal);
    session.onHeld(() => this.schedule(), signal);
    session.debug.subscribe((state, before) => this.changed(state, before), signal);
    const observer = new ResizeObserver(() => this.schedule());
    observer.observe(this.element);
    const end = () => {
      observer.disconnect();
      cancelAnimationFrame(this.frame);
      if (this.clock !== null) clearInterval(this.clock);
    };
    signal.addEventListener("abort", end, { once: true });
  }

  private take(events: readonly WireEvent[]): void {
    this.undrawn = [...this.undrawn, ...events].slice(-MOST_UNTOLD);
    this.untold = [...this.untold, ...events].slice(-MOST_UNTOLD);
    if (events.length > 0) this.voice.stir();
    this.schedule();
  }

  private changed(state: DebugState, before: DebugState): void {
    const speeches = sayChange(state, before, this.session.graph.store.snapshot, (id) => this.canvas.name(id));
    for (const speech of speeches) this.speak(speech);
    this.schedule();
  }

  private redrawPanels(): void {
    this.drawnState = null;
    this.schedule();
  }

  private schedule(): void {
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  /** The picture of the shown point; its graph is always the one that is drawn, so that going back moves nothing. */
  private shown(): Snapshot {
    const live = this.session.graph.store.snapshot;
    const { picture, state } = this.session.debug;
    const shown = picture === null ? live : { ...picture, graph: live.graph, layout: live.layout };
    return withGates(shown, state);
  }

  private get panelView(): PanelView {
    const { state } = this.session.debug;
    const snapshot = this.session.graph.store.snapshot;
    return { state, snapshot, nodes: snapshot.graph.nodes, names: (id) => this.canvas.name(id), saved: this.isSaved };
  }

  private get isSaved(): boolean {
    return this.session.graph.liveness === "saved";
  }

  private draw(): void {
    this.frame = 0;
    if (this.signal.aborted) return;
    const { state } = this.session.debug;
    const isPast = state.looking !== null;
    const events = this.undrawn.splice(0);
    this.canvas.update(this.shown(), state, isPast ? [] : events, this.commands.chosen, this.isSaved);
    this.drawFrame();
    const view = this.panelView;
    // What the live run does shows in the list of what waits; all else only changes with the session's state.
    if (state !== this.drawnState || this.inspector.openTab === "Waiting") {
      this.inspector.update(view);
      this.failure.update(view);
      this.timeline.update(state, view.names, this.liveNodes(view));
    }
    this.drawnState = state;
    this.timeline.fit();
    this.refreshOpened(view);
    this.runClock(view.snapshot.run.status === "running" && !isPast && !this.isSaved);
  }

  /** What the session stands before, or, while it runs, is at work at. */
  private liveNodes({ state, snapshot }: PanelView): Live {
    const running = Object.entries(snapshot.nodes).filter(([, node]) => node.status === "running");
    if (running.length > 0) return { nodes: running.map(([id]) => id), look: "running" };
    return { nodes: state.status === "paused" ? state.stopped_at : [], look: "paused" };
  }

  private drawFrame(): void {
    const view = this.panelView;
    const { chosen } = this.commands;
    this.toolbar.update(view, chosen === null ? null : view.names(chosen), this.session.isHeld ? HELD : "");
    this.bar.update(view);
    this.element.classList.toggle("in-past", view.state.looking !== null);
    this.element.classList.toggle("saved", view.saved);
    setAttribute(this.element, "aria-label", `Debugger of ${view.snapshot.graph.name}, ${view.state.status}`);
  }

  private runClock(wanted: boolean): void {
    if (wanted && this.clock === null) this.clock = setInterval(() => this.tick(), CLOCK_MS);
    if (!wanted && this.clock !== null) {
      clearInterval(this.clock);
      this.clock = null;
    }
  }

  private tick(): void {
    if (document.hidden) return;
    this.canvas.tick();
    this.bar.update(this.panelView);
  }

  private speak(speech: Speech): void {
    this.speeches.push(speech);
    this.voice.stir();
  }

  /** What happened and what changed, one text for each urgency. Stops and failures are told by the session's state. */
  private tell(): Speech[] {
    const { index } = this.canvas;
    const events = this.untold.splice(0).filter((event) => event.type !== "run_paused" && event.type !== "run_failed");
    const all = [...(index === null ? [] : narrate(events, index)), ...this.speeches.splice(0)];
    return [false, true].flatMap((assertive) => {
      const text = all
        .filter((one) => one.assertive === assertive)
        .map((one) => one.text)
        .join(" ");
      return text === "" ? [] : [{ text, assertive }];
    });
  }

  private tool(name: ToolName): void {
    if (!this.isSaved) this.commands.tool(name);
  }

  private perform(action: DebugAction): boolean {
    if (this.menu.isOpen) return false;
    if (action === "help") this.help.toggle();
    else if (action.startsWith("tab_")) this.showTab(TABS[Number(action.slice(4)) - 1] ?? "State");
    else if (!this.isSaved) this.command(action);
    return true;
  }

  private command(action: DebugAction): void {
    const { chosen } = this.commands;
    if (TOOL_KEYS.includes(action)) return this.commands.tool(action as ToolName);
    switch (action) {
      case "step_forward":
        return this.commands.stepForward();
      case "first":
        return this.commands.goTo(0, null);
      case "live":
        return this.commands.live();
      case "breakpoint":
        if (chosen !== null) return this.commands.toggleBreakpoint(chosen);
        return this.commands.say("Choose a node in the graph first.");
      case "condition":
        return this.breakpointForm(chosen);
      case "edit":
        return this.editState();
      case "why":
        this.showTab("Why");
        if (chosen === null) this.panels.Why.focus();
        return;
    }
  }

  private showTab(name: TabName): void {
    this.cover(null);
    this.inspector.show(name);
  }

  private breakpointForm(node: string | null): void {
    this.showTab("Breakpoints");
    this.panels.Breakpoints.openAt(node);
  }

  private editState(): void {
    const reason = this.session.debug.state.allowed.edit;
    if (reason !== "") return this.commands.say(`${reason}.`);
    this.showTab("State");
    this.panels.State.edit();
  }

  private skip(task: Parameters<WaitingPanel["skip"]>[0]): void {
    this.showTab("Waiting");
    this.panels.Waiting.skip(task, this.panelView);
  }

  /** Asks for the inputs of a run; begins it where they have been entered, or where it takes none. */
  private askInputs(): void {
    if (fieldsOf(this.session.debug.state.input_schema).length === 0)
      return void this.commands.send({ type: "run", inputs: {} });
    this.showTab("State");
    this.panels.State.showForm(true);
    this.panels.State.update(this.panelView);
    this.panels.State.form.proceed();
  }

  private cover(over: HTMLElement | null): void {
    this.opened = null;
    this.inspector.lay(over);
  }

  /** Opens a node's card over the inspector and asks for what the view doesn't know. */
  private async open(id: string): Promise<void> {
    const node = this.canvas.index?.nodes.get(id);
    if (node === undefined) return;
    const card = new DetailsCard(node, () => this.back(), this.signal);
    this.cover(html("div", { class: "over" }, card.element));
    this.opened = card;
    this.refreshOpened(this.panelView);
    const reply = await this.session.graph.channel.request({ type: "inspect_node", node: id });
    if (this.opened === card) card.answer(reply);
  }

  private refreshOpened(view: PanelView): void {
    this.opened?.update((this.session.debug.picture ?? view.snapshot).nodes[this.opened.node.id]);
  }

  /** One step out: menu, help, what covers the inspector, then the view itself. */
  private back(): boolean {
    if (this.menu.close() || this.help.close()) return true;
    if (this.inspector.isCovered) {
      const node = this.opened?.node.id;
      this.cover(null);
      if (node !== undefined) this.canvas.focus(node);
      return true;
    }
    const cell = this.element.closest<HTMLElement>(".jp-Notebook");
    (document.activeElement as HTMLElement | null)?.blur();
    cell?.focus({ preventScroll: true });
    return true;
  }

  private nodeMenu(node: string, at: { x: number; y: number }, from: SVGElement): void {
    if (this.isSaved) return;
    const { allowed, breakpoints } = this.session.debug.state;
    const has = breakpoints.some((one) => one.kind === "node" && one.node === node);
    const refused = allowed.breakpoint;
    const items: MenuItem[] = [
      {
        label: has ? "Remove breakpoint" : "Breakpoint",
        key: "B",
        refused,
        run: () => this.commands.toggleBreakpoint(node),
      },
      { label: "Breakpoint if…", key: "⇧B", refused, run: () => this.breakpointForm(node) },
      { label: "Run to here", key: "T", refused: allowed.run_to, run: () => this.commands.tool("run_to") },
      { label: "Why?", key: "W", run: () => this.showTab("Why") },
      { label: "Open", key: "⏎", run: () => void this.open(node) },
    ];
    this.menu.open(this.canvas.name(node), items, at, from);
  }

  private branchMenu(branch: WireBranch, from: HTMLElement): void {
    const { state } = this.session.debug;
    const current = state.branches.find((one) => one.id === state.branch);
    const own = state.steps.filter((step) => step.branch === branch.id).map((step) => step.number);
    const end = Math.max(branch.from_step ?? 0, ...own);
    const items: MenuItem[] = [
      { label: "Go to its end", key: "", refused: state.allowed.goto, run: () => this.commands.goTo(end, branch.id) },
      { label: "Name…", key: "", run: () => this.nameBranch(branch) },
    ];
    if (current !== undefined && current.id !== branch.id) {
      const compare = () => this.compare(current, branch);
      items.push({ label: `Compare with ${current.name}`, key: "", refused: state.allowed.compare, run: compare });
    }
    const box = from.getBoundingClientRect();
    this.menu.open(branch.name, items, { x: box.right, y: box.top }, from);
  }

  private nameBranch(branch: WireBranch): void {
    const form = branchForm(branch, this.commands, () => this.cover(null));
    this.cover(form);
    form.querySelector("input")?.select();
  }

  private compare(a: WireBranch, b: WireBranch): void {
    const panel = new ComparePanel(
      a,
      b,
      (id) => this.canvas.name(id),
      this.commands,
      () => this.cover(null),
    );
    this.cover(panel.element);
    panel.element.focus();
  }
}
