/** The first tab: the state at the shown point and what its step did; before a run the form of the inputs. */

import { caption, changedWords } from "../core/debug_words.ts";
import { startsRun } from "../core/tools.ts";
import { html, setText } from "../view/dom.ts";
import { richNodes } from "../view/rich.ts";
import type { Desk, Panel, PanelView } from "./desk.ts";
import { InputForm } from "./input_form.ts";
import { StateTree } from "./state_tree.ts";
import { WatchLine } from "./watch_line.ts";

export class StatePanel implements Panel {
  readonly element: HTMLElement;
  readonly form: InputForm;
  private readonly _title = html("span.cut");
  private readonly _count = html("span.dim");
  private readonly _cap = html("div.cap", this._title, this._count);
  private readonly _tree: StateTree;
  private readonly _watches: WatchLine;
  private readonly _scroller: HTMLElement;
  private _asksInputs = false;

  constructor(
    desk: Desk,
    private readonly _changed: () => void,
    signal: AbortSignal,
  ) {
    this.form = new InputForm(desk, () => this.showForm(false));
    this._tree = new StateTree(desk, signal);
    this._watches = new WatchLine(desk);
    this._scroller = html("div.scroll", this.form.element, this._cap, this._tree.element);
    this.element = html("div.panel.p-state", this._scroller, this._watches.element);
  }

  /** Shows the inputs of another run above the state of the last. */
  showForm(open: boolean): void {
    this._asksInputs = open;
    this._changed();
  }

  edit(): void {
    void this._tree.edit(null);
  }

  update(view: PanelView): void {
    const { state, saved } = view;
    const isBlank = state.state.length === 0;
    const mayRun = startsRun(state) && !saved;
    this.form.element.hidden = !mayRun || !(this._asksInputs || (state.status === "idle" && isBlank));
    if (!mayRun) this._asksInputs = false;
    if (!this.form.element.hidden) this.form.update(view);
    this._cap.hidden = isBlank && !this.form.element.hidden;
    this._title.replaceChildren(...richNodes(caption(state, view.names)));
    setText(this._count, changedWords(state));
    this._tree.update(view);
    this._watches.element.hidden = isBlank && state.watches.length === 0;
    this._watches.update(view);
  }
}
