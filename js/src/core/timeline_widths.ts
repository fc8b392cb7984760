/** How wide the columns of the timeline are: what each needs for its words, and how the room is shared out. */

import type { Job, TimelineLayout } from "./timeline.ts";
import { stepUse } from "./tool_words.ts";

const SIGN_PX = 28;
const LETTER_PX = 7.1;
const TIME_PX = 30;
const USE_PX = 190;
const USE_LETTER_PX = 6.2;
const USE_GAP_PX = 14; // and the dot of an effect
const GAP_PX = 4;
const LANES_PX = 124; // lanes' names and the rims

type Names = (id: string) => string;

/** Pixels by column: for its longest name, and for what its steps called and used. */
export interface Needs {
  readonly names: readonly number[];
  readonly uses: readonly number[];
}

export function needs(layout: TimelineLayout, names: Names): Needs {
  return { names: namePixels(layout, names), uses: usePixels(layout) };
}

export interface Share {
  /** There is no room for the times. */
  readonly tight: boolean;
  /** There is room for what steps called and used. */
  readonly roomy: boolean;
  /** The columns, in CSS. */
  readonly template: string;
}

/** Shares the width out: with little room what steps called goes, then the times, then the columns scroll. */
export function shareOut({ names, uses }: Needs, width: number): Share {
  const wanted = names.reduce((sum, each) => sum + each + TIME_PX + GAP_PX, LANES_PX);
  const used = uses.reduce((sum, each) => sum + each, 0);
  const roomy = used > 0 && wanted + used <= width;
  const most = (each: number, at: number) => each + TIME_PX + (roomy ? (uses[at] ?? 0) : 0);
  const columns = names.map((each, at) => `minmax(min(${each}px, var(--job-most)), ${most(each, at)}px)`);
  return { tight: wanted > width, roomy, template: `var(--lane-w) ${columns.join(" ") || "0px"} minmax(0, 1fr)` };
}

function namePixels(layout: TimelineLayout, names: Names): number[] {
  const letters = layout.heads.map(() => 4);
  for (const job of layout.jobs) letters[job.column] = Math.max(letters[job.column] ?? 0, lettersOf(job, names));
  return letters.map((count) => Math.round(Math.min(112, SIGN_PX + count * LETTER_PX)));
}

function usePixels(layout: TimelineLayout): number[] {
  const pixels = layout.heads.map(() => 0);
  for (const job of layout.jobs) {
    const letters = job.kind === "step" ? stepUse(job.step).length : 0;
    const wide = letters === 0 ? 0 : Math.min(USE_PX, Math.round(letters * USE_LETTER_PX) + USE_GAP_PX);
    pixels[job.column] = Math.max(pixels[job.column] ?? 0, wide);
  }
  return pixels;
}

function lettersOf(job: Job, names: Names): number {
  switch (job.kind) {
    case "step":
      return names(job.step.node).length + (job.step.inside ? 8 : 0);
    case "fold":
      return job.fold.nodes.map(names).join(" ⇄ ").length + 3;
    case "lanes":
      return 8;
    case "ghost":
      return 0; // runs on over the empty columns beside it
    case "live":
      return job.nodes.map(names).join(", ").length;
  }
}
