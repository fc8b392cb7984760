/** What broke a session that is still open: the error, and the three ways on. */

import type { WireError } from "../protocol/generated.ts";
import type { WireWaiting } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { debugIcon } from "../view/debug_icons.ts";
import { html } from "../view/dom.ts";
import type { Desk, PanelView } from "./desk.ts";
import { errorCard } from "./error_card.ts";

export interface FailureActions {
  edit(): void;
  skip(task: WireWaiting): void;
}

export class FailureCard {
  readonly element = html("div.failure", { hidden: true });
  private _drawn = "";

  constructor(
    private readonly _desk: Desk,
    private readonly _actions: FailureActions,
    private readonly _signal: AbortSignal,
  ) {}

  update(view: PanelView): void {
    const { state, saved } = view;
    const failed = state.status === "failed" && state.looking === null;
    this.element.hidden = !failed;
    if (!failed) return;
    const error = errorOf(view);
    const key = JSON.stringify([
      error,
      saved,
      state.allowed.retry,
      state.allowed.edit,
      state.allowed.skip,
      taskOf(view),
    ]);
    if (key === this._drawn) return;
    this._drawn = key;
    const card = errorCard(error, titleOf(error, view), this._signal);
    if (!saved) card.querySelector("header")?.after(this._ways(view));
    this.element.replaceChildren(card);
  }

  private _ways(view: PanelView): HTMLElement {
    const { allowed } = view.state;
    const task = taskOf(view);
    const noTask = task === null ? "the failed task is gone" : "";
    return html(
      "div.ways",
      button("Retry", () => void this._desk.send({ type: "retry" }), {
        className: "primary",
        icon: debugIcon("retry"),
        refused: allowed.retry,
        dataKey: "retry",
      }),
      button("Edit state", this._actions.edit, {
        icon: debugIcon("pencil"),
        refused: allowed.edit,
        dataKey: "fail edit",
      }),
      button("Skip with a delta", () => task !== null && this._actions.skip(task), {
        icon: debugIcon("skip"),
        refused: allowed.skip || noTask,
        dataKey: "fail skip",
      }),
    );
  }
}

function errorOf({ snapshot, state }: PanelView): WireError {
  return snapshot.run.error ?? { kind: "Failed", what: state.reason, where: "", fix: "", source: [], traceback: "" };
}

function titleOf(error: WireError, { snapshot, state, names }: PanelView): string {
  const node = snapshot.run.failed_node ?? state.stopped_at[0];
  return node === undefined ? error.kind : `${error.kind} in ${names(node)}`;
}

/** The task that failed waits again, before its node. */
function taskOf({ snapshot, state }: PanelView): WireWaiting | null {
  const node = snapshot.run.failed_node ?? state.stopped_at[0];
  return state.waiting.find((task) => task.node === node) ?? null;
}
