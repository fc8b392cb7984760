/** What a step changed inside a value: its children now against its children before. Pure. */

import type { ValueChild } from "../protocol/generated_debugging.ts";

export type ChildRow =
  | {
      readonly kind: "child";
      readonly child: ValueChild;
      readonly change: "" | "added" | "changed" | "removed";
      readonly before: ValueChild | null;
    }
  | { readonly kind: "run"; readonly from: string; readonly to: string; readonly count: number; readonly id: string };

const RUN_FROM = 3; // fewer unchanged neighbours are shown as they are

/**
 * Rows in the order of the value. Unchanged neighbours in a value that changed fold into one row, unless `opened` has
 * its id. Without a `before` nothing is marked and nothing folds.
 */
export function childRows(
  now: readonly ValueChild[],
  before: readonly ValueChild[] | null,
  opened: (id: string) => boolean,
): ChildRow[] {
  if (before === null) return now.map((child) => ({ kind: "child", child, change: "", before: null }));
  return foldRuns(compared(now, before), opened);
}

function compared(now: readonly ValueChild[], before: readonly ValueChild[]): ChildRow[] {
  const old = new Map(before.map((child) => [child.label, child]));
  const rows: ChildRow[] = now.map((child) => {
    const was = old.get(child.label) ?? null;
    old.delete(child.label);
    return { kind: "child", child, change: was === null ? "added" : differs(was, child) ? "changed" : "", before: was };
  });
  const gone: ChildRow[] = [...old.values()].map((child) => ({
    kind: "child",
    child,
    change: "removed",
    before: child,
  }));
  return [...rows, ...gone];
}

function differs(a: ValueChild, b: ValueChild): boolean {
  return a.value.text !== b.value.text || a.value.kind !== b.value.kind;
}

function foldRuns(rows: readonly ChildRow[], opened: (id: string) => boolean): ChildRow[] {
  const out: ChildRow[] = [];
  let run: ChildRow[] = [];
  const close = () => {
    const row = runRow(run);
    out.push(...(row === null || opened(row.id) ? run : [row]));
    run = [];
  };
  for (const row of rows) {
    if (row.kind === "child" && row.change === "") run.push(row);
    else {
      close();
      out.push(row);
    }
  }
  close();
  return out;
}

function runRow(run: readonly ChildRow[]): (ChildRow & { kind: "run" }) | null {
  const [first, last] = [run[0], run.at(-1)];
  if (run.length < RUN_FROM || first?.kind !== "child" || last?.kind !== "child") return null;
  const [from, to] = [first.child.label, last.child.label];
  return { kind: "run", from, to, count: run.length, id: JSON.stringify(first.child.path) };
}
