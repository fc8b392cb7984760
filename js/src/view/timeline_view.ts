/**
 * The timeline: a slider over the record with a chip for each step, lanes for what ran side by side, branches below, the
 * future hatched. Drag the cursor, click a chip, or use the keys.
 */

import { position, sayStep } from "../core/debug_words.ts";
import { atEnd } from "../core/ending.ts";
import { insideWords, shownStep } from "../core/overlay.ts";
import { type Job, layTimeline, STRIP_ABOVE, type TimelineLayout } from "../core/timeline.ts";
import { placeShown } from "../core/timeline_inside.ts";
import { type Needs, needs, shareOut } from "../core/timeline_widths.ts";
import type { DebugState, WireBranch } from "../protocol/generated_debugging.ts";
import { button } from "./controls.ts";
import { debugIcon } from "./debug_icons.ts";
import { DensityStrip } from "./density_view.ts";
import { html, on, setAttribute } from "./dom.ts";
import { Keyed, type Part } from "./keyed.ts";
import { scrub } from "./scrub.ts";
import { jobElement } from "./timeline_jobs.ts";

export interface TimelineActions {
  goTo(step: number, branch: number): void;
  back(): void;
  on(): void;
  live(): void;
  /** A branch's name was pressed. */
  branch(branch: WireBranch, at: HTMLElement): void;
}

export interface Live {
  readonly nodes: readonly string[];
  readonly look: "paused" | "running" | "waiting";
}

const HEAD_ROW = 1;
const LANE_COLUMN = 1;

export class TimelineView {
  readonly element: HTMLElement;
  private readonly _grid = html("div.time", { role: "slider", tabindex: 0, "aria-label": "Step" });
  private readonly _parts = new Keyed(this._grid);
  private readonly _strip: DensityStrip;
  private readonly _unfolded = new Set<number>();
  private _layout: TimelineLayout | null = null;
  private _state: DebugState | null = null;
  private _names: (id: string) => string = (id) => id;
  private _live: Live = { nodes: [], look: "paused" };
  private _shownAt = "";
  private _needs: Needs = { names: [], uses: [] };
  private _width = 0;

  constructor(
    private readonly _actions: TimelineActions,
    signal: AbortSignal,
  ) {
    this._strip = new DensityStrip((step) => this._state !== null && _actions.goTo(step, this._state.branch), signal);
    this.element = html("div.timeline", this._strip.element, this._grid);
    const toColumn = (column: number) => this._goToColumn(column);
    scrub(this._grid, { columns: () => this._columnEdges(), go: toColumn }, signal);
    on(this._grid, "keydown", (event) => this._press(event), signal);
    const observer = new ResizeObserver(() => {
      this._width = this._grid.clientWidth;
      this._fit();
    });
    observer.observe(this._grid);
    atEnd(signal, () => observer.disconnect());
  }

  /** @param live What the session stands before or works at, as far as it isn't the past that is shown. */
  update(state: DebugState, names: (id: string) => string, live: Live): void {
    this._state = state;
    this._names = names;
    // The past says nothing about where the live session stands: what was seen last is kept.
    if (state.looking === null) this._live = live;
    const layout = layTimeline(state, this._unfolded, this._live.nodes);
    this._layout = layout;
    this._strip.update(state, state.steps.length > STRIP_ABOVE);
    this._needs = needs(layout, names);
    this._fit();
    this._grid.style.gridTemplateRows = `19px repeat(${layout.rows}, 22px)`;
    this._parts.update(this._drawn(layout, state));
    this._describe(state);
    this._bringIntoView(state);
  }

  /** Also after a change of size. */
  private _fit(): void {
    const { tight, roomy, template } = shareOut(this._needs, this._width);
    this._grid.classList.toggle("tight", tight);
    this._grid.classList.toggle("roomy", roomy);
    const style = this._grid.style;
    if (style.gridTemplateColumns !== template) style.gridTemplateColumns = template;
  }

  private _describe(state: DebugState): void {
    const step = shownStep(state);
    const now = state.looking ?? state.step;
    setAttribute(this._grid, "aria-valuemin", 0);
    setAttribute(this._grid, "aria-valuemax", state.step);
    setAttribute(this._grid, "aria-valuenow", now);
    const where = (state.looking === null ? `Live, step ${state.step}` : position(state)) + insideWords(state);
    setAttribute(
      this._grid,
      "aria-valuetext",
      step === null || state.inside !== null ? where : `${where}. ${sayStep(step, this._names)}`,
    );
  }

  private _drawn(layout: TimelineLayout, state: DebugState): Part[] {
    const last = layout.heads.length + LANE_COLUMN;
    return [
      ...(layout.hiddenBefore > 0 ? [this._hidden(layout.hiddenBefore)] : []),
      ...(layout.cursor === null ? [] : [later(layout.cursor), cursor(layout.cursor, state.looking ?? 0)]),
      ...layout.heads.map((text, column) => this._head(text, column, layout)),
      ...layout.lanes.map(({ row, branch, name, current }) => ({
        key: `lane ${branch?.id ?? "new"}`,
        version: JSON.stringify([row, name, branch?.note, current]),
        make: () => this._lane(row, branch, name, current),
      })),
      ...layout.stems.map((stem) => ({
        key: `stem ${stem.toRow}`,
        version: JSON.stringify(stem),
        make: () =>
          place(
            html("i", { class: stem.ghost ? "stem ghost" : "stem" }),
            stem.column,
            `${stem.fromRow + 2} / ${stem.toRow + 3}`,
          ),
      })),
      ...layout.jobs.map((job) => this._job(job)),
      { key: "rail", version: "", make: () => html("i.rail") },
      { key: "end", version: `${last}`, make: () => html("i.filler") },
    ];
  }

  private _head(text: string, column: number, layout: TimelineLayout): Part {
    const isLive = column === layout.liveColumn;
    const words = isLive ? "live" : text;
    const look = isLive ? `no live ${this._live.look}` : "no";
    const isPlain = !text.includes("–");
    return {
      key: `head ${column}`,
      version: JSON.stringify([words, isPlain, look]),
      make: () => place(html("span", { class: look }, words), column, `${HEAD_ROW}`),
    };
  }

  private _hidden(count: number): Part {
    const words = `+ ${count.toLocaleString("en-US")}`;
    const title = `${count} earlier steps aren't shown here`;
    const make = () => html("span.before.dim", { title }, words, html("span", " earlier"));
    return { key: "before", version: words, make };
  }

  private _lane(row: number, branch: WireBranch | null, name: string, current: boolean): HTMLElement {
    const note = branch === null ? "new" : branch.note;
    const sign = branch?.parent === null ? null : debugIcon("fork");
    const words = note === "" ? name : `${name} ${note}`;
    const element =
      branch === null
        ? html("span.lane")
        : button("", () => this._actions.branch(branch, element), {
            name: `Branch ${words}`,
            dataKey: `lane ${branch.id}`,
          });
    element.classList.add("lane");
    element.classList.toggle("current", current);
    element.tabIndex = -1;
    if (sign !== null) element.append(sign);
    element.append(html("span.cut", name, note === "" ? "" : " ", html("span.dim", note)));
    element.style.gridRow = `${row + 2}`;
    return element;
  }

  private _job(job: Job): Part {
    const key = jobKey(job);
    return {
      key,
      version: JSON.stringify([job, job.kind === "live" && this._live.look]),
      make: () =>
        place(
          jobElement(job, this._names, this._live.look, {
            goTo: this._actions.goTo,
            unfold: (first) => this._unfold(first),
            live: this._actions.live,
          }),
          job.column,
          `${job.row + 2}`,
          job.kind === "ghost",
        ),
    };
  }

  /** Opens a fold: its first round is kept, and so all that follow in the same fold. Below zero: what is in a step. */
  private _unfold(first: number): void {
    if (first < 0 && !this._unfolded.delete(first)) this._unfolded.add(first);
    const fold = this._layout?.jobs.flatMap((job) =>
      job.kind === "fold" && job.fold.first === first ? [job.fold] : [],
    )[0];
    for (const cell of fold?.cells ?? []) this._unfolded.add(cell.first);
    if (this._state !== null) this.update(this._state, this._names, this._live);
  }

  /** The right edge of each column that holds a step of the line, in page pixels. */
  private _columnEdges(): readonly { readonly column: number; readonly right: number }[] {
    const heads = [...this._grid.querySelectorAll<HTMLElement>(".no")];
    return heads.map((head, column) => ({ column, right: head.getBoundingClientRect().right }));
  }

  private _goToColumn(column: number): void {
    const { _state: state, _layout: layout } = this;
    if (state === null || layout === null) return;
    if (column < 0) return this._actions.goTo(0, state.branch);
    if (column >= (layout.liveColumn ?? layout.heads.length)) return this._actions.live();
    const end = layout.ends[column];
    if (end && (state.looking === null || end !== placeShown(state))) this._actions.goTo(end, state.branch);
  }

  private _press(event: KeyboardEvent): void {
    if (event.target !== this._grid || event.ctrlKey || event.metaKey || event.altKey || this._state === null) return;
    if (event.key === "ArrowLeft") this._actions.back();
    else if (event.key === "ArrowRight") this._actions.on();
    else if (event.key === "Enter") this._unfoldNext(this._state);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private _unfoldNext(state: DebugState): void {
    const step = shownStep(state);
    if (step?.inside && state.inside === null) return this._unfold(-step.number);
    const shown = placeShown(state);
    const folds = this._layout?.jobs.flatMap((job) => (job.kind === "fold" ? [job.fold] : [])) ?? [];
    const next = folds.find((fold) => fold.last >= shown) ?? folds.at(-1);
    if (next !== undefined) this._unfold(next.first);
  }

  /** Keeps the shown step in view when another one is shown, and nothing else: a reader may have scrolled. */
  private _bringIntoView(state: DebugState): void {
    const at = JSON.stringify([state.looking, state.step, state.branch, state.inside]);
    if (at === this._shownAt) return;
    this._shownAt = at;
    const target =
      this._grid.querySelector<HTMLElement>(".here") ?? this._grid.querySelector<HTMLElement>(".job.live") ?? null;
    const room = this._grid.clientWidth;
    if (target === null) this._grid.scrollLeft = state.looking === null ? this._grid.scrollWidth : 0;
    else if (
      target.offsetLeft - this._grid.scrollLeft < 90 ||
      target.offsetLeft + target.offsetWidth - this._grid.scrollLeft > room - 30
    )
      this._grid.scrollLeft = target.offsetLeft - room * 0.6;
  }
}

function place<E extends HTMLElement>(element: E, column: number, row: string, toEnd = false): E {
  element.style.gridColumn = `${column + 1 + LANE_COLUMN}${toEnd ? " / -1" : ""}`;
  element.style.gridRow = row;
  return element;
}

function later(column: number): Part {
  const make = () => {
    const element = html("i.later");
    element.style.gridColumn = `${column + 2 + LANE_COLUMN} / -1`;
    return element;
  };
  return { key: "later", version: `${column}`, make };
}

function cursor(column: number, step: number): Part {
  const make = () => {
    const element = html("i.cursor", html("b", `${step}`));
    element.style.gridColumn = `${Math.max(0, column) + 1 + LANE_COLUMN - (column < 0 ? 1 : 0)}`;
    return element;
  };
  return { key: "cursor", version: `${column} ${step}`, make };
}

function jobKey(job: Job): string {
  switch (job.kind) {
    case "step":
      return `step ${job.branch} ${job.step.number} ${job.step.task}`;
    case "fold":
      return `fold ${job.branch} ${job.fold.first}`;
    case "lanes":
      return `lanes ${job.branch} ${job.column}`;
    case "ghost":
    case "live":
      return job.kind;
  }
}
