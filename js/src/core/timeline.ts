/**
 * Where everything on the timeline stands: a column for each wave, rows for lanes and branches, the loops folded, the
 * branches hung on the step they leave. Pure: state in, places out.
 */

import type { DebugState, WireBranch, WireStep } from "../protocol/generated_debugging.ts";
import { lineage } from "./overlay.ts";
import { type Cell, cellsOf, type Fold, folded, isFold, type Slot } from "./timeline_cells.ts";

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
 * @param unfolded First steps of the folds that were opened by hand.
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
  private readonly line: ReadonlyMap<number, number>;
  private readonly shown: number;
  private readonly slots = new Map<number, readonly Slot[]>();
  private readonly columns = new Map<Slot, number>();
  private readonly rows = new Map<number, Row>();
  private readonly jobs: Job[] = [];
  private readonly lanes: Lane[] = [];
  private readonly stems: Stem[] = [];
  private nextRow = 0;

  constructor(
    private readonly state: DebugState,
    private readonly unfolded: ReadonlySet<number>,
    private readonly liveNodes: readonly string[],
  ) {
    this.line = lineage(state);
    this.shown = state.looking ?? state.step;
  }

  lay(): TimelineLayout {
    const steps = this.state.steps.length > STRIP_ABOVE ? this.near() : this.state.steps;
    const branches = this.branches(steps);
    for (const branch of branches) this.placeBranch(branch, steps);
    const cursor = this.state.looking === null ? null : this.columnOf(this.state.branch, this.shown);
    if (cursor !== null) this.placeGhost(cursor);
    const liveColumn = this.placeLive();
    return {
      heads: this.heads(),
      lanes: this.lanes,
      jobs: this.jobs,
      stems: this.stems,
      rows: this.nextRow,
      cursor,
      liveColumn,
      hiddenBefore: this.state.steps_before + (steps[0] === undefined ? 0 : this.cutOff(steps)),
    };
  }

  private cutOff(steps: readonly WireStep[]): number {
    return steps === this.state.steps ? 0 : this.state.steps.length - steps.length;
  }

  /** Steps of the line within reach of the shown one, and the beginnings of branches that leave there. */
  private near(): WireStep[] {
    const { steps } = this.state;
    const line = steps.filter((step) => step.number <= (this.line.get(step.branch) ?? -1));
    const at = line.findIndex((step) => step.number >= this.shown);
    const middle = at < 0 ? line.length - 1 : at;
    const seen = line.slice(Math.max(0, middle - NEAR), middle + NEAR + 1);
    const numbers = new Set(seen.map((step) => step.number));
    const leaving = this.state.branches.filter((one) => numbers.has(one.from_step ?? -1) && !this.line.has(one.id));
    return [...seen, ...leaving.flatMap(({ id }) => steps.filter((step) => step.branch === id).slice(0, NEAR))];
  }

  /** Parents before children, and only those with something to show. */
  private branches(steps: readonly WireStep[]): WireBranch[] {
    const used = new Set(steps.map((step) => step.branch));
    const all = this.state.branches.filter((branch) => used.has(branch.id) || branch.id === this.state.branch);
    return all.length === 0 ? [MAIN] : [...all].sort((a, b) => a.id - b.id);
  }

  private placeBranch(branch: WireBranch, steps: readonly WireStep[]): void {
    const own = cellsOf(steps.filter((step) => step.branch === branch.id));
    const slots = folded(own, (cell) => this.keeps(branch.id, cell));
    this.slots.set(branch.id, slots);
    const start = branch.parent === null ? 0 : this.columnOf(branch.parent, branch.from_step ?? 0) + 1;
    slots.forEach((slot, i) => {
      this.columns.set(slot, start + i);
    });
    const height = Math.max(1, ...slots.map((slot) => (isFold(slot) ? 1 : Math.min(MOST_LANES, slot.steps.length))));
    const row = { top: this.nextRow, height };
    this.rows.set(branch.id, row);
    this.nextRow += height;
    this.lanes.push({ row: middle(row), branch, name: branch.name, current: branch.id === this.state.branch });
    for (const slot of slots) this.placeSlot(slot, branch.id, row);
    if (branch.parent !== null) this.stem(branch.parent, start, middle(row), false);
  }

  /** The shown step is never behind a fold, nor is a round that was opened by hand. */
  private keeps(branch: number, cell: Cell): boolean {
    const inLine = this.shown <= (this.line.get(branch) ?? -1);
    const isShown = this.state.looking !== null && inLine && cell.first <= this.shown && this.shown <= cell.last;
    return isShown || this.unfolded.has(cell.first);
  }

  private placeSlot(slot: Slot, branch: number, row: Row): void {
    const column = this.columns.get(slot) ?? 0;
    if (isFold(slot)) {
      this.jobs.push({ kind: "fold", fold: slot, column, row: middle(row), branch });
      return;
    }
    const tooMany = slot.steps.length > MOST_LANES;
    const seen = tooMany ? slot.steps.slice(0, MOST_LANES - 1) : slot.steps;
    const top = row.top + Math.floor((row.height - Math.min(MOST_LANES, slot.steps.length)) / 2);
    seen.forEach((step, i) => {
      this.jobs.push({ kind: "step", step, here: this.isHere(step), column, row: top + i, branch });
    });
    const rest = slot.steps.slice(seen.length);
    if (rest.length > 0) this.jobs.push({ kind: "lanes", steps: rest, column, row: top + seen.length, branch });
  }

  private isHere(step: WireStep): boolean {
    return this.state.looking === step.number && step.number <= (this.line.get(step.branch) ?? -1);
  }

  /** The column of a step as seen from a branch: its own, else its parent's; -1 for what lies before the first. */
  private columnOf(branchId: number, number: number): number {
    let id: number | null = branchId;
    while (id !== null) {
      const slots: readonly Slot[] = this.slots.get(id) ?? [];
      const slot = [...slots].reverse().find((one) => one.first <= number);
      const column = slot === undefined ? undefined : this.columns.get(slot);
      if (column !== undefined) return column;
      id = this.state.branches.find((branch) => branch.id === id)?.parent ?? null;
    }
    return -1;
  }

  private stem(parent: number, column: number, toRow: number, ghost: boolean): void {
    const row = this.rows.get(parent);
    if (row !== undefined && column > 0) this.stems.push({ column, fromRow: middle(row), toRow, ghost });
  }

  private placeGhost(cursor: number): void {
    const { next_branch: name, would_run: nodes } = this.state;
    if (name === "" || nodes.length === 0) return;
    const row = this.nextRow++;
    this.lanes.push({ row, branch: null, name, current: false });
    this.jobs.push({ kind: "ghost", nodes, column: cursor + 1, row, branch: -1 });
    this.stem(this.lineOf(this.shown), cursor + 1, row, true);
  }

  private lineOf(number: number): number {
    for (const [id] of this.line) if ((this.slots.get(id) ?? []).some((slot) => slot.first <= number)) return id;
    return this.state.branch;
  }

  private placeLive(): number | null {
    if (this.liveNodes.length === 0) return null;
    const column = this.columnOf(this.state.branch, Number.POSITIVE_INFINITY) + 1;
    const row = this.rows.get(this.state.branch);
    if (row === undefined) return null;
    this.jobs.push({ kind: "live", nodes: this.liveNodes, column, row: middle(row), branch: this.state.branch });
    return column;
  }

  private heads(): string[] {
    const count = Math.max(0, ...this.jobs.map((job) => job.column + 1));
    const heads = Array.from({ length: count }, () => "");
    for (const [id, last] of this.line) {
      for (const slot of this.slots.get(id) ?? []) {
        const column = this.columns.get(slot);
        if (column !== undefined && slot.first <= last) heads[column] = range(slot.first, Math.min(slot.last, last));
      }
    }
    return heads;
  }
}

function middle(row: Row): number {
  return row.top + Math.floor((row.height - 1) / 2);
}

function range(first: number, last: number): string {
  return first === last ? `${first}` : `${first}–${last}`;
}
