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
  private readonly title = html("span", { class: "cut" });
  private readonly count = html("span", { class: "dim" });
  private readonly cap = html("div", { class: "cap" }, this.title, this.count);
  private readonly tree: StateTree;
  private readonly watches: WatchLine;
  private readonly scroller: HTMLElement;
  private asksInputs = false;

  constructor(
    desk: Desk,
    private readonly changed: () => void,
    signal: AbortSignal,
  ) {
    this.form = new InputForm(desk, () => this.showForm(false));
    this.tree = new StateTree(desk, signal);
    this.watches = new WatchLine(desk);
    this.scroller = html("div", { class: "scroll" }, this.form.element, this.cap, this.tree.element);
    this.element = html("div", { class: "panel p-state" }, this.scroller, this.watches.element);
  }

  /** Shows the inputs of another run above the state of the last. */
  showForm(open: boolean): void {
    this.asksInputs = open;
    this.changed();
  }

  edit(): void {
    void this.tree.edit(null);
  }

  update(view: PanelView): void {
    const { state, saved } = view;
    const isBlank = state.state.length === 0;
    const mayRun = startsRun(state) && !saved;
    this.form.element.hidden = !mayRun || !(this.asksInputs || (state.status === "idle" && isBlank));
    if (!mayRun) this.asksInputs = false;
    if (!this.form.element.hidden) this.form.update(view);
    this.cap.hidden = isBlank;
    this.title.replaceChildren(...richNodes(caption(state, view.names)));
    setText(this.count, changedWords(state));
    this.tree.update(view);
    this.watches.element.hidden = isBlank && state.watches.length === 0;
    this.watches.update(view);
  }
}
