/** More steps than fit in lanes as a strip of bars: how much time each stretch took, and where it failed or stopped. */

import type { DebugState, StepStatus } from "../protocol/generated_debugging.ts";
import { lineage } from "./overlay.ts";

export interface Bar {
  readonly first: number;
  readonly last: number;
  /** 0 to 1: its time against the longest bar's. */
  readonly height: number;
  readonly look: StepStatus;
}

const WORST: readonly StepStatus[] = ["failed", "edited", "pinned", "skipped", "done"];

/** The current line in at most `count` bars of as many steps each. */
export function densityBars(state: DebugState, count: number): Bar[] {
  const line = lineage(state);
  const steps = state.steps
    .filter((step) => step.number <= (line.get(step.branch) ?? -1))
    .sort((a, b) => a.number - b.number);
  const size = Math.max(1, Math.ceil(steps.length / Math.max(1, count)));
  const groups = Array.from({ length: Math.ceil(steps.length / size) }, (_, i) =>
    steps.slice(i * size, (i + 1) * size),
  );
  const times = groups.map((group) => group.reduce((sum, step) => sum + step.duration_s, 0));
  const longest = Math.max(1e-9, ...times);
  return groups.map((group, i) => ({
    first: group[0]?.number ?? 0,
    last: group.at(-1)?.number ?? 0,
    // By the root, so that one slow step doesn't flatten all others.
    height: Math.sqrt((times[i] ?? 0) / longest),
    look: WORST.find((status) => group.some((step) => step.status === status)) ?? "done",
  }));
}
