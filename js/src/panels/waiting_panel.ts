/** What is ready and what waits at a join, each to be stepped alone or skipped with a delta. */

import { listWords, ordinal, plural } from "../core/format.ts";
import { innerStep } from "../core/tools.ts";
import type { DebugState, WireWaiting } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { debugIcon } from "../view/debug_icons.ts";
import { html, setText } from "../view/dom.ts";
import { stateIcon } from "../view/glyph.ts";
import { Keyed, type Part } from "../view/keyed.ts";
import type { Desk, Panel, PanelView } from "./desk.ts";
import { SkipForm } from "./skip_form.ts";

export class WaitingPanel implements Panel {
  readonly element: HTMLElement;
  private readonly _ready = group("Ready");
  private readonly _joins = group("Waiting at a join");
  private readonly _empty = html("p.none");
  private _skipping: { task: string; form: SkipForm } | null = null;
  private _view: PanelView | null = null;

  constructor(private readonly _desk: Desk) {
    this.element = html("div.panel.p-wait.scroll", this._ready.element, this._joins.element, this._empty);
  }

  update(view: PanelView): void {
    this._view = view;
    const { state } = view;
    const ready = state.waiting.filter((one) => one.can_run);
    const joins = state.waiting.filter((one) => !one.can_run);
    setText(this._ready.title, state.looking === null ? "Ready" : `Ready at step ${state.looking}`);
    this._fill(this._ready, ready, view);
    this._fill(this._joins, joins, view);
    this._empty.hidden = state.waiting.length > 0;
    setText(this._empty, emptyWords(view));
  }

  /** Opens the form that skips a task. */
  skip(task: WireWaiting, view: PanelView): void {
    const close = () => {
      this._skipping = null;
      if (this._view !== null) this.update(this._view);
    };
    this._skipping = {
      task: task.task,
      form: new SkipForm(task, view.names(task.node), view.state, this._desk, close),
    };
    this.update(view);
    this._skipping.form.start();
  }

  private _fill(part: Group, tasks: readonly WireWaiting[], view: PanelView): void {
    part.element.hidden = tasks.length === 0;
    setText(part.count, plural(tasks.length, "task"));
    part.rows.update(tasks.map((task) => this._card(task, view)));
  }

  private _card(task: WireWaiting, view: PanelView): Part {
    const form = this._skipping?.task === task.task ? this._skipping.form : null;
    const { state, saved } = view;
    const version = JSON.stringify([
      task,
      form !== null,
      saved,
      state.allowed.step_one,
      state.allowed.skip,
      innerStep(task).map(({ type }) => state.allowed[type]),
      view.names(task.node),
    ]);
    return { key: task.task, version, make: () => this._make(task, view, form) };
  }

  private _make(task: WireWaiting, view: PanelView, form: SkipForm | null): HTMLElement {
    const { state, names, saved } = view;
    const name = names(task.node);
    const step = () => void this._desk.send({ type: "step_one", task: task.task });
    const words = html("div.grow", html("b", name), visitWords(task), html("div.dim", ...this._facts(task, view)));
    const tools = [
      ...innerStep(task).map(({ type, label }) =>
        button(label, () => void this._desk.send({ type, task: task.task }), {
          refused: state.allowed[type],
          dataKey: `${type} ${task.task}`,
        }),
      ),
      button("Step one", step, { className: "outline", refused: state.allowed.step_one, dataKey: `step ${task.task}` }),
      button("", () => this.skip(task, view), {
        name: `Skip ${name} with a hand-written delta`,
        icon: debugIcon("skip"),
        refused: state.allowed.skip,
        dataKey: `skip ${task.task}`,
      }),
    ];
    const look = task.can_run ? "paused" : "waiting";
    const sign = html("span", { class: `${look} ink` }, stateIcon(look));
    const line = html("div.task", sign, words, ...(saved || !task.can_run ? [] : tools));
    return html("li", line, form?.element ?? null);
  }

  private _facts(task: WireWaiting, view: PanelView): (HTMLElement | string)[] {
    if (task.can_run) {
      if (task.begun) return ["begun, goes on inside"];
      const held = task.held ? "held by a breakpoint" : "";
      const reads = task.reads.length === 0 ? "" : `input: ${listWords(task.reads)}`;
      return [[held, reads].filter(Boolean).join(" · ")];
    }
    const arrived = task.arrived.map((id) => arrival("done", view.names(id), ""));
    return [...arrived, ...task.missing.map((id) => arrival("waiting", view.names(id), missingWords(id, view)))];
  }
}

interface Group {
  readonly element: HTMLElement;
  readonly title: HTMLElement;
  readonly count: HTMLElement;
  readonly rows: Keyed;
}

function group(name: string): Group {
  const title = html("span", name);
  const count = html("span.dim");
  const list = html("ul.cards");
  const element = html("section", { hidden: true }, html("div.cap", title, count), list);
  return { element, title, count, rows: new Keyed(list) };
}

function visitWords(task: WireWaiting): HTMLElement | string {
  if (!task.can_run) return html("span.dim", ` all of ${task.arrived.length + task.missing.length}`);
  return task.visit > 1 ? html("span.dim", ` ${ordinal(task.visit)} visit`) : "";
}

function arrival(look: "done" | "waiting", name: string, words: string): HTMLElement {
  return html(
    "span",
    { class: `arr ${look}` },
    html("span.ink", stateIcon(look)),
    words === "" ? name : `${name}: ${words}`,
  );
}

/** "running, can still come" */
function missingWords(id: string, { snapshot, state }: PanelView): string {
  if (state.looking !== null) return "hasn't come";
  const status = snapshot.nodes[id]?.status ?? "idle";
  if (status === "running" || status === "queued") return `${status}, can still come`;
  return status === "failed" ? "failed" : "hasn't come";
}

function emptyWords({ state, names }: PanelView): string {
  if (state.status === "running" && state.looking === null) return "Nothing waits; the run is at work.";
  const next: DebugState["would_run"] = state.would_run;
  if (next.length === 0) return "Nothing waits.";
  return `Nothing waits; ${listWords(next.map(names))} ${next.length === 1 ? "is" : "are"} ready.`;
}
