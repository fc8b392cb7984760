/** Steps of one branch put in columns: what ran in one wave stands in one column; rounds of a loop fold. Pure. */

import type { WireStep } from "../protocol/generated_debugging.ts";

/** One wave of a branch. */
export interface Cell {
  readonly steps: readonly WireStep[];
  readonly first: number;
  readonly last: number;
}

/** Rounds of a loop behind one chip. */
export interface Fold {
  readonly cells: readonly Cell[];
  readonly rounds: number;
  /** The nodes of one round, in order. */
  readonly nodes: readonly string[];
  readonly first: number;
  readonly last: number;
}

export type Slot = Cell | Fold;
export function isFold(slot: Slot): slot is Fold {
  return "rounds" in slot;
}

const LONGEST_ROUND = 12;
const ROUNDS_SHOWN = 2;

/** A change by hand comes before the wave that it changes, so it stands in a column of its own. */
export function cellsOf(steps: readonly WireStep[]): Cell[] {
  const waves = new Map<string, WireStep[]>();
  for (const step of [...steps].sort((a, b) => a.number - b.number)) {
    const name = step.status === "edited" ? `edit ${step.number}` : `${step.wave}`;
    const wave = waves.get(name);
    if (wave === undefined) waves.set(name, [step]);
    else wave.push(step);
  }
  return [...waves.values()].map((wave) => ({
    steps: [...wave].sort((a, b) => a.lane - b.lane || a.number - b.number),
    first: Math.min(...wave.map((step) => step.number)),
    last: Math.max(...wave.map((step) => step.number)),
  }));
}

/**
 * Folds a loop's rounds from the third on. A round that `keeps` says must be seen (it holds the shown step, or was
 * unfolded by hand) stays, and so do the rounds after it until the next that may fold.
 */
export function folded(cells: readonly Cell[], keeps: (cell: Cell) => boolean): Slot[] {
  const names = cells.map((cell) => cell.steps.map((step) => step.node).join("\n"));
  const slots: Slot[] = [];
  let at = 0;
  while (at < cells.length) {
    const loop = loopAt(names, at);
    if (loop === null) {
      slots.push(...cells.slice(at, at + 1));
      at += 1;
      continue;
    }
    slots.push(...foldedLoop(cells.slice(at, at + loop.length * loop.rounds), loop.length, keeps));
    at += loop.length * loop.rounds;
  }
  return slots;
}

/** The shortest round that repeats at least three times from here. */
function loopAt(names: readonly string[], at: number): { length: number; rounds: number } | null {
  for (let length = 1; length <= LONGEST_ROUND && at + 3 * length <= names.length; length++) {
    let rounds = 1;
    while (repeats(names, at, at + rounds * length, length)) rounds += 1;
    if (rounds > ROUNDS_SHOWN) return { length, rounds };
  }
  return null;
}

function repeats(names: readonly string[], a: number, b: number, length: number): boolean {
  if (b + length > names.length) return false;
  for (let i = 0; i < length; i++) if (names[a + i] !== names[b + i]) return false;
  return true;
}

function foldedLoop(cells: readonly Cell[], length: number, keeps: (cell: Cell) => boolean): Slot[] {
  const slots: Slot[] = [...cells.slice(0, ROUNDS_SHOWN * length)];
  let hidden: Cell[] = [];
  const close = () => {
    if (hidden.length > 0) slots.push(fold(hidden, length));
    hidden = [];
  };
  for (let at = ROUNDS_SHOWN * length; at < cells.length; at += length) {
    const round = cells.slice(at, at + length);
    if (round.some(keeps)) {
      close();
      slots.push(...round);
    } else hidden.push(...round);
  }
  close();
  return slots;
}

function fold(cells: readonly Cell[], length: number): Fold {
  const nodes = cells.slice(0, length).flatMap((cell) => cell.steps.map((step) => step.node));
  const first = cells[0]?.first ?? 0;
  return { cells, rounds: cells.length / length, nodes: [...new Set(nodes)], first, last: cells.at(-1)?.last ?? first };
}
