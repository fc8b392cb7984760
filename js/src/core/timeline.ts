/**
 * Where everything on the timeline stands: a column for each wave, rows for lanes and branches, the loops folded, the
 * branches hung on the step they leave. Pure: state in, places out.
 */

import type { DebugState, WireBranch, WireStep } from "../protocol/generated_debugging.ts";
import { lineage } from "./overlay.ts";
import { type Cell, cellsOf, type Fold, folded, isFold, type Slot } from "./timeline_cells.ts";
import { placeShown, stepsInside } from "./timeline_inside.ts";

export const MOST_LANES = 6;
/** Above this the whole is a strip, and only what is near the shown step stands in lanes. */
export const STRIP_ABOVE = 200;
const NEAR = 24;
/** Before a run there is its line already, so that nothing appears and pushes. */
const MAIN: WireBranch = { id: 0, name: "main", parent: null, from_step: null, steps: 0, note: "" };

interface Place {
  readonly column: number;
  readonly row: number;
  readonly branch: number;
}
export type Job = Place &
  (
    | { readonly kind: "step"; readonly step: WireStep; readonly here: boolean }
    | { readonly kind: "fold"; readonly fold: Fold }
    | { readonly kind: "lanes"; readonly steps: readonly WireStep[] }
    | { readonly kind: "ghost"; readonly nodes: readonly string[] }
    | { readonly kind: "live"; readonly nodes: readonly string[] }
  );

export interface Lane {
  readonly row: number;
  readonly branch: WireBranch | null; // null: the branch that would be made
  readonly name: string;
  readonly current: boolean;
}

export interface Stem {
  readonly column: number;
  readonly fromRow: number;
  readonly toRow: number;
  readonly ghost: boolean;
}

export interface TimelineLayout {
  /** One for each column, "" where the current line has no step. */
  readonly heads: readonly string[];
  /** The last place of each column, 0 where the current line has none. */
  readonly ends: readonly number[];
  readonly lanes: readonly Lane[];
  readonly jobs: readonly Job[];
  readonly stems: readonly Stem[];
  readonly rows: number;
  /** The column after which the cursor stands, -1 before the first; null when live. */
  readonly cursor: number | null;
  readonly liveColumn: number | null;
  /** Steps at the left that aren't shown. */
  readonly hiddenBefore: number;
}

/**
 * @param unfolded First steps of the folds that were opened by hand; below zero, steps that were opened.
 * @param liveNodes What the live session stands before or works at; shown after the last step.
 */
export function layTimeline(
  state: DebugState,
  unfolded: ReadonlySet<number>,
  liveNodes: readonly string[],
): TimelineLayout {
  return new Layouter(state, unfolded, liveNodes).lay();
}

interface Row {
  readonly top: number;
  readonly height: number;
}

class Layouter {
  private readonly _line: ReadonlyMap<number, number>;
  private readonly _shown: number;
  private readonly _slots = new Map<number, readonly Slot[]>();
  private readonly _columns = new Map<Slot, number>();
  private readonly _rows = new Map<number, Row>();
  private readonly _jobs: Job[] = [];
  private readonly _lanes: Lane[] = [];
  private readonly _stems: Stem[] = [];
  private _nextRow = 0;

  constructor(
    private readonly _state: DebugState,
    private readonly _unfolded: ReadonlySet<number>,
    private readonly _liveNodes: readonly string[],
  ) {
    this._line = lineage(_state);
    this._shown = placeShown(_state);
  }

  lay(): TimelineLayout {
    const steps = this._state.steps.length > STRIP_ABOVE ? this._near() : this._state.steps;
    const branches = this._branches(steps);
    for (const branch of branches) this._placeBranch(branch, steps);
    const cursor = this._state.looking === null ? null : this._columnOf(this._state.branch, this._shown);
    if (cursor !== null) this._placeGhost(cursor);
    const liveColumn = this._placeLive();
    return {
      ...this._heads(),
      lanes: this._lanes,
      jobs: this._jobs,
      stems: this._stems,
      rows: this._nextRow,
      cursor,
      liveColumn,
      hiddenBefore: this._state.steps_before + (steps[0] === undefined ? 0 : this._cutOff(steps)),
    };
  }

  private _cutOff(steps: readonly WireStep[]): number {
    return steps === this._state.steps ? 0 : this._state.steps.length - steps.length;
  }

  /** Steps of the line within reach of the shown one, and the beginnings of branches that leave there. */
  private _near(): WireStep[] {
    const { steps } = this._state;
    const line = steps.filter((step) => step.number <= (this._line.get(step.branch) ?? -1));
    const at = line.findIndex((step) => step.number >= this._shown);
    const middle = at < 0 ? line.length - 1 : at;
    const seen = line.slice(Math.max(0, middle - NEAR), middle + NEAR + 1);
    const numbers = new Set(seen.map((step) => step.number));
    const leaving = this._state.branches.filter((one) => numbers.has(one.from_step ?? -1) && !this._line.has(one.id));
    return [...seen, ...leaving.flatMap(({ id }) => steps.filter((step) => step.branch === id).slice(0, NEAR))];
  }

  /** Parents before children, and only those with something to show. */
  private _branches(steps: readonly WireStep[]): WireBranch[] {
    const used = new Set(steps.map((step) => step.branch));
    const all = this._state.branches.filter((branch) => used.has(branch.id) || branch.id === this._state.branch);
    return all.length === 0 ? [MAIN] : [...all].sort((a, b) => a.id - b.id);
  }

  private _placeBranch(branch: WireBranch, steps: readonly WireStep[]): void {
    const own = cellsOf(steps.filter((step) => step.branch === branch.id));
    const keeps = (cell: Cell) => this._keeps(branch.id, cell);
    const inside = (owners: readonly number[]) => folded(cellsOf(stepsInside(this._state, owners)), keeps);
    const slots = folded(own, keeps).flatMap((slot) => [...(isFold(slot) ? [] : inside(this._opened(slot))), slot]);
    if (branch.id === this._state.branch) slots.push(...inside([0]));
    this._slots.set(branch.id, slots);
    const start = branch.parent === null ? 0 : this._columnOf(branch.parent, branch.from_step ?? 0) + 1;
    slots.forEach((slot, i) => {
      this._columns.set(slot, start + i);
    });
    const height = Math.max(1, ...slots.map((slot) => (isFold(slot) ? 1 : Math.min(MOST_LANES, slot.steps.length))));
    const row = { top: this._nextRow, height };
    this._rows.set(branch.id, row);
    this._nextRow += height;
    this._lanes.push({ row: middle(row), branch, name: branch.name, current: branch.id === this._state.branch });
    for (const slot of slots) this._placeSlot(slot, branch.id, row);
    if (branch.parent !== null) this._stem(branch.parent, start, middle(row), false);
  }

  /** Steps of sub-graphs whose inner steps are seen: one is shown, or they were opened by hand. */
  private _opened({ steps }: Cell): number[] {
    const at = this._state.looking === null ? null : this._state.inside?.owner;
    return steps.map((step) => step.number).filter((number) => number === at || this._unfolded.has(-number));
  }

  /** The shown step is never behind a fold, nor is a round that was opened by hand. */
  private _keeps(branch: number, cell: Cell): boolean {
    const inLine = this._shown <= (this._line.get(branch) ?? -1);
    const isShown = this._state.looking !== null && inLine && cell.first <= this._shown && this._shown <= cell.last;
    return isShown || this._unfolded.has(cell.first);
  }

  private _placeSlot(slot: Slot, branch: number, row: Row): void {
    const column = this._columns.get(slot) ?? 0;
    if (isFold(slot)) {
      this._jobs.push({ kind: "fold", fold: slot, column, row: middle(row), branch });
      return;
    }
    const seen = this._seen(slot.steps);
    const top = row.top + Math.floor((row.height - Math.min(MOST_LANES, slot.steps.length)) / 2);
    seen.forEach((step, i) => {
      this._jobs.push({ kind: "step", step, here: this._isHere(step), column, row: top + i, branch });
    });
    const rest = slot.steps.filter((step) => !seen.includes(step));
    if (rest.length > 0) this._jobs.push({ kind: "lanes", steps: rest, column, row: top + seen.length, branch });
  }

  /** Of more lanes than there is room for, the first ones; but always the shown step, and rather what broke or was edited. */
  private _seen(steps: readonly WireStep[]): readonly WireStep[] {
    if (steps.length <= MOST_LANES) return steps;
    const rank = (step: WireStep) => (this._isHere(step) ? 0 : step.status === "done" ? 2 : 1);
    const chosen = [...steps].sort((a, b) => rank(a) - rank(b)).slice(0, MOST_LANES - 1);
    return steps.filter((step) => chosen.includes(step));
  }

  private _isHere(step: WireStep): boolean {
    return (
      this._state.looking !== null && this._shown === step.number && step.number <= (this._line.get(step.branch) ?? -1)
    );
  }

  /** The column of a step as seen from a branch: its own, else its parent's; -1 for what lies before the first. */
  private _columnOf(branchId: number, number: number): number {
    let id: number | null = branchId;
    while (id !== null) {
      const slots: readonly Slot[] = this._slots.get(id) ?? [];
      // What is inside of a wave stands before all of it.
      const isWhole = number % 1 === 0;
      const slot = [...slots].reverse().find((one) => (isWhole ? one.first : one.last) <= number);
      const column = slot === undefined ? undefined : this._columns.get(slot);
      if (column !== undefined) return column;
      id = this._state.branches.find((branch) => branch.id === id)?.parent ?? null;
    }
    return -1;
  }

  private _stem(parent: number, column: number, toRow: number, ghost: boolean): void {
    const row = this._rows.get(parent);
    if (row !== undefined && column > 0) this._stems.push({ column, fromRow: middle(row), toRow, ghost });
  }

  private _placeGhost(cursor: number): void {
    const { next_branch: name, would_run: nodes } = this._state;
    if (name === "" || nodes.length === 0) return;
    const row = this._nextRow++;
    this._lanes.push({ row, branch: null, name, current: false });
    this._jobs.push({ kind: "ghost", nodes, column: cursor + 1, row, branch: -1 });
    this._stem(this._lineOf(this._shown), cursor + 1, row, true);
  }

  private _lineOf(number: number): number {
    for (const [id] of this._line) if ((this._slots.get(id) ?? []).some((slot) => slot.first <= number)) return id;
    return this._state.branch;
  }

  private _placeLive(): number | null {
    if (this._liveNodes.length === 0) return null;
    const column = this._columnOf(this._state.branch, Number.POSITIVE_INFINITY) + 1;
    const row = this._rows.get(this._state.branch);
    if (row === undefined) return null;
    this._jobs.push({ kind: "live", nodes: this._liveNodes, column, row: middle(row), branch: this._state.branch });
    return column;
  }

  private _heads(): Pick<TimelineLayout, "heads" | "ends"> {
    const count = Math.max(0, ...this._jobs.map((job) => job.column + 1));
    const heads = Array.from({ length: count }, () => "");
    const ends = heads.map(() => 0);
    for (const [id, last] of this._line) {
      for (const slot of this._slots.get(id) ?? []) {
        const column = this._columns.get(slot);
        if (column === undefined || slot.first > last) continue;
        const end = Math.min(slot.last, last);
        heads[column] = slot.first % 1 ? "·" : range(slot.first, end);
        ends[column] = end;
      }
    }
    return { heads, ends };
  }
}

function middle(row: Row): number {
  return row.top + Math.floor((row.height - 1) / 2);
}

function range(first: number, last: number): string {
  return first === last ? `${first}` : `${first}–${last}`;
}
