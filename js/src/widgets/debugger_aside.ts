/** What stands beside the debugger's graph: the six panels, what is asked, what broke, and what is laid over them for a while. */

import type { DebugSession } from "../bridge/debug_session.ts";
import { fieldsOf } from "../core/form.ts";
import type { GraphIndex } from "../core/index_graph.ts";
import { branchForm } from "../panels/branch_form.ts";
import { BreakpointsPanel } from "../panels/breakpoints_panel.ts";
import { ComparePanel } from "../panels/compare_panel.ts";
import type { PanelView } from "../panels/desk.ts";
import { DetailsCard } from "../panels/details.ts";
import { FailureCard } from "../panels/failure_card.ts";
import { Inspector, type TabName } from "../panels/inspector.ts";
import { LogPanel } from "../panels/log_panel.ts";
import { MessagesPanel } from "../panels/messages_panel.ts";
import { QuestionCard } from "../panels/question_card.ts";
import { StatePanel } from "../panels/state_panel.ts";
import { WaitingPanel } from "../panels/waiting_panel.ts";
import { WhyPanel } from "../panels/why_panel.ts";
import type { WireBranch, WireWaiting } from "../protocol/generated_debugging.ts";
import { html } from "../view/dom.ts";
import { findingsOf } from "../view/findings.ts";
import type { Commands } from "./debugger_commands.ts";

/** What the aside needs of the view around it. */
export interface AsideHost {
  readonly element: HTMLElement;
  readonly panelView: PanelView;
  readonly index: GraphIndex | null;
  /** Draws the panels again, though the session is as it was. */
  redraw(): void;
  /** One step out, as Escape. */
  back(): void;
}

export class Aside {
  readonly element: HTMLElement;
  private readonly _panels: ReturnType<Aside["_makePanels"]>;
  private readonly _inspector: Inspector;
  private readonly _failure: FailureCard;
  private readonly _questions: QuestionCard;
  private _opened: DetailsCard | null = null;

  constructor(
    private readonly _session: DebugSession,
    private readonly _commands: Commands,
    private readonly _host: AsideHost,
    prefix: string,
    private readonly _signal: AbortSignal,
  ) {
    this._panels = this._makePanels();
    const ways = { edit: () => this.editState(), skip: (task: WireWaiting) => this._skip(task) };
    this._failure = new FailureCard(_commands, ways, _signal);
    this._questions = new QuestionCard(_commands, () => _host.element.focus({ preventScroll: true }), _signal);
    this._inspector = new Inspector(this._panels, this._questions.element, this._failure.element, prefix, _signal);
    this.element = this._inspector.element;
  }

  get openTab(): TabName {
    return this._inspector.openTab;
  }

  update(view: PanelView): void {
    this._inspector.update(view);
    this._failure.update(view);
    this._questions.update(view);
  }

  /** The card that tells what broke, while there is one. */
  get failure(): HTMLElement | null {
    return this._failure.element.hidden ? null : this._failure.element;
  }

  /** What the opened node's card shows of a running node changes between two states of the session. */
  refresh(view: PanelView): void {
    this._opened?.update(this._session.debug.picture ?? view.snapshot);
  }

  show(name: TabName): void {
    this._cover(null);
    this._inspector.show(name);
  }

  /** Leads to what is asked. */
  answer(): void {
    this._questions.focus();
  }

  why(): void {
    this.show("Why");
    if (this._commands.chosen === null) this._panels.Why.focus();
  }

  breakpointForm(node: string | null): void {
    this.show("Breakpoints");
    this._panels.Breakpoints.openAt(node);
  }

  editState(): void {
    const reason = this._session.debug.state.allowed.edit;
    if (reason !== "") return this._commands.say(`${reason}.`);
    this.show("State");
    this._panels.State.edit();
  }

  /** Asks for the inputs of a run; begins it where they have been entered, or where it takes none. */
  askInputs(): void {
    if (fieldsOf(this._session.debug.state.input_schema).length === 0)
      return void this._commands.send({ type: "run", inputs: {} });
    this.show("State");
    this._panels.State.showForm(true);
    this._panels.State.update(this._host.panelView);
    this._panels.State.form.proceed();
  }

  /** Opens a node's card over the panels, which asks for what the view doesn't know. */
  open(id: string): void {
    const { index } = this._host;
    const node = index?.nodes.get(id);
    if (index === null || node === undefined) return;
    const ask = () => this._session.graph.channel.request({ type: "inspect_node", node: id });
    const card = new DetailsCard(node, () => this._host.back(), this._signal, findingsOf(index.graph, id), ask);
    this._cover(html("div.over", card.element));
    this._opened = card;
    this.refresh(this._host.panelView);
  }

  nameBranch(branch: WireBranch): void {
    const form = branchForm(branch, this._commands, () => this._cover(null));
    this._cover(form);
    form.querySelector("input")?.select();
  }

  compare(a: WireBranch, b: WireBranch): void {
    const { names } = this._host.panelView;
    const panel = new ComparePanel(a, b, names, this._commands, () => this._cover(null));
    this._cover(panel.element);
    panel.element.focus();
  }

  /** Takes away what covers the panels. False if nothing did, else the node whose card it was, or true. */
  uncover(): string | boolean {
    if (!this._inspector.isCovered) return false;
    const node = this._opened?.node.id;
    this._cover(null);
    return node ?? true;
  }

  private _makePanels() {
    return {
      State: new StatePanel(this._commands, () => this._host.redraw(), this._signal),
      Messages: new MessagesPanel(),
      Waiting: new WaitingPanel(this._commands),
      Breakpoints: new BreakpointsPanel(this._commands),
      Why: new WhyPanel(this._commands),
      Log: new LogPanel(),
    } as const;
  }

  private _skip(task: WireWaiting): void {
    this.show("Waiting");
    this._panels.Waiting.skip(task, this._host.panelView);
  }

  private _cover(over: HTMLElement | null): void {
    this._opened = null;
    this._inspector.lay(over);
  }
}
