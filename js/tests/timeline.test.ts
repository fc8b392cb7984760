import { describe, expect, it } from "vitest";
import { looping, past, paused } from "../dev/debugger_fixtures.ts";
import { NO_DEBUG } from "../src/core/debug_blank.ts";
import { densityBars } from "../src/core/density.ts";
import { editedNodes, lineage, shownStep } from "../src/core/overlay.ts";
import { type Job, layTimeline, MOST_LANES } from "../src/core/timeline.ts";
import { cellsOf, folded, isFold, type Slot } from "../src/core/timeline_cells.ts";
import { kernelPlace, placeShown } from "../src/core/timeline_inside.ts";
import { shareOut } from "../src/core/timeline_widths.ts";
import type { DebugState, WireInner, WireStep } from "../src/protocol/generated_debugging.ts";

function step(number: number, node: string, more: Partial<WireStep> = {}): WireStep {
  const rest = {
    visit: 1,
    branch: 0,
    wave: number,
    lane: 0,
    status: "done",
    at_s: 0,
    duration_s: 1,
    effect: false,
    tools: [],
    tokens: null,
    inside: 0,
  } as const;
  return { number, task: `t${number}`, node, wrote: [], ...rest, ...more };
}

function state(steps: readonly WireStep[], more: Partial<DebugState> = {}): DebugState {
  const main = { id: 0, name: "main", parent: null, from_step: null, steps: steps.length, note: "" };
  return { ...NO_DEBUG, seq: 1, status: "paused", steps, step: steps.at(-1)?.number ?? 0, branches: [main], ...more };
}

const branch = (id: number, parent: number, from_step: number) => ({
  id,
  name: `b${id}`,
  parent,
  from_step,
  steps: 1,
  note: "",
});
const line = (names: string) => [...names].map((name, i) => step(i + 1, name));
const lay = (shown: DebugState, live: readonly string[] = [], unfolded: readonly number[] = []) =>
  layTimeline(shown, new Set(unfolded), live);
const words = (slots: readonly Slot[]) =>
  slots
    .map((slot) =>
      isFold(slot) ? `${slot.nodes.join("")}×${slot.rounds}` : slot.steps.map((one) => one.node).join("+"),
    )
    .join(" ");
const fold = (names: string, kept: readonly number[] = []) =>
  words(folded(cellsOf(line(names)), (cell) => kept.includes(cell.first)));
const of = <K extends Job["kind"]>(jobs: readonly Job[], kind: K) =>
  jobs.filter((job): job is Extract<Job, { kind: K }> => job.kind === kind);

describe("folding", () => {
  it("leaves two rounds and folds a loop from the third on", () => {
    expect(fold("abab")).toBe("a b a b");
    expect(fold("xabababaz")).toBe("x a b a b ab×1 a z");
    expect(fold("xababababz")).toBe("x a b a b ab×2 z");
  });

  it("folds a node that repeats itself", () => {
    expect(fold("aaaaa")).toBe("a a a×3");
  });

  it("finds two loops in a row", () => {
    expect(fold("aaaabcbcbcbc")).toBe("a a a×2 b c b c bc×2");
  });

  it("keeps a round open that must be seen, and folds what is on both sides of it", () => {
    expect(fold("abababababab", [7])).toBe("a b a b ab×1 a b ab×2");
  });

  it("puts the parallel tasks of one wave into one cell, in the order of their lanes", () => {
    const steps = [
      step(1, "c", { wave: 1, lane: 2 }),
      step(2, "a", { wave: 1, lane: 0 }),
      step(3, "b", { wave: 1, lane: 1 }),
    ];
    expect(words(cellsOf(steps))).toBe("a+b+c");
  });
});

describe("cells", () => {
  it("stand a change by hand before the wave it changes", () => {
    const steps = [
      step(1, "a"),
      step(2, "b", { wave: 2, status: "edited" }),
      step(3, "b", { wave: 2 }),
      step(4, "c", { wave: 2 }),
    ];
    expect(words(cellsOf(steps))).toBe("a b b+c");
  });
});

describe("the layout", () => {
  it("gives each wave a column and names it by its steps", () => {
    const { heads } = lay(paused().debug, ["human_review"]);
    expect(heads).toEqual(["1", "2", "3–5", "6", "7", "8", "9", "10", "11", "12", "13", ""]);
  });

  it("stands single steps in the middle of parallel lanes", () => {
    const jobs = of(lay(paused().debug).jobs, "step").filter((job) => job.branch === 0);
    expect(jobs.filter((job) => job.column === 2).map((job) => job.row)).toEqual([0, 1, 2]);
    expect(jobs.find((job) => job.column === 0)?.row).toBe(1);
  });

  it("hangs a branch on the step it leaves after", () => {
    const { jobs, stems } = lay(paused().debug);
    const first = of(jobs, "step").find((job) => job.branch === 1);
    expect(first?.column).toBe(4); // main's sixth step is the fourth column
    expect(stems).toEqual([{ column: 4, fromRow: 1, toRow: 3, ghost: false }]);
  });

  it("hangs a branch of a branch on the line it comes from", () => {
    const steps = [...line("abc"), step(4, "d", { branch: 1, wave: 2 }), step(5, "e", { branch: 2, wave: 2 })];
    const { jobs } = lay(
      state(steps, { branches: [...state([]).branches, branch(1, 0, 1), branch(2, 1, 1)], branch: 2 }),
    );
    expect(of(jobs, "step").find((job) => job.step.node === "e")?.column).toBe(1);
  });

  it("sets the cursor after the looked-at step and shows what would run there", () => {
    const { cursor, jobs, lanes } = lay(past().debug);
    expect(cursor).toBe(6);
    expect(of(jobs, "ghost")).toMatchObject([{ nodes: ["critic"], column: 7 }]);
    expect(lanes.at(-1)).toMatchObject({ name: "b2", branch: null });
  });

  it("sets the cursor before the first column at the start", () => {
    expect(lay({ ...past().debug, looking: 0 }).cursor).toBe(-1);
  });

  it("shows no ghost where going on makes no branch", () => {
    expect(of(lay({ ...past().debug, next_branch: "" }).jobs, "ghost")).toEqual([]);
  });

  it("has no cursor when live, and stands the live session after the last step", () => {
    const { cursor, liveColumn } = lay(paused().debug, ["human_review"]);
    expect(cursor).toBeNull();
    expect(liveColumn).toBe(11);
  });

  it("merges lanes beyond the sixth", () => {
    const steps = Array.from({ length: 9 }, (_, i) => step(i + 1, `n${i}`, { wave: 1, lane: i }));
    const { jobs, rows } = lay(state(steps));
    expect(rows).toBe(MOST_LANES);
    expect(of(jobs, "lanes")[0]?.steps).toHaveLength(4);
  });

  it("never hides the shown step behind other lanes, and rather shows what broke", () => {
    const all = Array.from({ length: 30 }, (_, i) =>
      step(i + 1, `n${i}`, { wave: 1, lane: i, status: i === 20 ? "failed" : "done" }),
    );
    const seen = (debug: DebugState) => of(lay(debug).jobs, "step").map((job) => [job.step.number, job.row, job.here]);
    const first = [1, 2, 3, 4].map((number, row) => [number, row, false]);
    expect(seen(state(all))).toEqual([...first, [21, 4, false]]);
    expect(seen({ ...state(all), looking: 29 })).toEqual([...first.slice(0, 3), [21, 3, false], [29, 4, true]]);
    expect(of(lay(state(all)).jobs, "lanes")[0]?.steps).toHaveLength(25);
  });

  it("folds loops, opens them by hand, and never hides the shown step", () => {
    const { debug } = looping();
    expect(of(lay(debug).jobs, "fold")).toMatchObject([{ fold: { rounds: 18, first: 11, last: 46 } }]);
    const shown = lay({ ...debug, looking: 20 });
    expect(
      of(shown.jobs, "step")
        .filter((job) => job.here)
        .map((job) => job.step.number),
    ).toEqual([20]);
    const all = Array.from({ length: 18 }, (_, i) => 11 + 2 * i);
    expect(of(lay(debug, [], all).jobs, "fold")).toEqual([]);
  });

  it("shows of a long run what is near the shown step", () => {
    const steps = Array.from({ length: 400 }, (_, i) => step(i + 1, `n${i % 17}`));
    const { jobs, hiddenBefore } = lay(
      state(steps, { steps_before: 100, looking: 200, next_branch: "b1", would_run: ["x"] }),
    );
    const numbers = of(jobs, "step").map((job) => job.step.number);
    expect(Math.min(...numbers)).toBe(176);
    expect(Math.max(...numbers)).toBe(224);
    expect(hiddenBefore).toBe(100 + 400 - 49);
  });
});

describe("what ran inside of a sub-graph", () => {
  const inside = (inner: number, node: string, owner: number, more: Partial<WireInner> = {}): WireInner => ({
    ...step(1, `sub › ${node}`, { wave: inner }),
    task: `i${inner}`,
    inner,
    owner,
    ...more,
  });
  const inner = [inside(2, "x", 2), inside(3, "y", 2), inside(4, "z", 2)];
  const finished = state([step(1, "a"), step(2, "sub", { inside: 3 }), step(3, "b")], { inner });
  const at = (number: number, node: string, owner: number) => ({
    number,
    node,
    owner,
    text: "inside sub, step 1 of 3",
  });
  const nodes = (shown: DebugState, unfolded: readonly number[] = []) =>
    of(lay(shown, [], unfolded).jobs, "step")
      .sort((a, b) => a.column - b.column)
      .map((job) => `${job.step.node}${job.here ? " here" : ""}`);

  it("is one step until it is opened, or looked at", () => {
    expect(nodes(finished)).toEqual(["a", "sub", "b"]);
    expect(nodes(finished, [-2])).toEqual(["a", "sub › x", "sub › y", "sub › z", "sub", "b"]);
    const looking = { ...finished, looking: 1, inside: at(3, "sub › y", 2) };
    expect(nodes(looking)).toEqual(["a", "sub › x", "sub › y here", "sub › z", "sub", "b"]);
    expect(lay(looking).cursor).toBe(2);
  });

  it("stands before the step it led to, by its own place", () => {
    const { heads, ends } = lay(finished, [], [-2]);
    expect(heads).toEqual(["1", "·", "·", "·", "2", "3"]);
    expect(ends.map(kernelPlace)).toEqual([
      { count: 1 },
      { count: 1, inside: 2 },
      { count: 1, inside: 3 },
      { count: 1, inside: 4 },
      { count: 2 },
      { count: 3 },
    ]);
  });

  it("has its cursor before its first step where the sub-graph has just begun", () => {
    const begun = { ...finished, looking: 1, inside: at(1, "sub", 2) };
    expect(lay(begun).cursor).toBe(0);
    expect(nodes(begun)).toContain("sub › x");
  });

  it("opens by itself while it goes on, before what comes next", () => {
    const live = state([step(1, "a")], { inner: [inside(2, "x", 0)], inside: at(2, "sub › x", 0) });
    expect(nodes(live)).toEqual(["a", "sub › x"]);
    expect(lay(live, ["sub › y"]).liveColumn).toBe(2);
    expect(placeShown(live)).toBe(1);
  });

  it("folds the rounds of a loop there as everywhere", () => {
    const loop = [..."xyxyxyxy"].map((name, i) => inside(i + 2, name, 2));
    const { jobs } = lay({ ...finished, inner: loop }, [], [-2]);
    expect(of(jobs, "fold")).toMatchObject([{ fold: { rounds: 2, nodes: ["sub › x", "sub › y"] } }]);
  });

  it("stands before the whole wave in which its node ran", () => {
    const wave = [step(2, "c", { wave: 2 }), step(3, "sub", { wave: 2, lane: 1, inside: 2 })];
    const two = [inside(2, "x", 3), { ...inside(3, "y", 3), number: 2 }];
    const shown = state([step(1, "a"), ...wave], { inner: two, looking: 2, inside: at(3, "sub › y", 3) });
    expect(nodes(shown)).toEqual(["a", "sub › x", "sub › y here", "c", "sub"]);
    expect(lay(shown).cursor).toBe(2);
    expect(lay({ ...shown, looking: 2, inside: null }, [], [-3]).cursor).toBe(3);
  });

  it("keeps its place apart from any other one, also in a long record", () => {
    expect(kernelPlace(99_999 + 54_321 / 1e7)).toEqual({ count: 99_999, inside: 54_321 });
    expect(placeShown({ ...finished, looking: 7, inside: at(2, "", 0) })).toBeGreaterThan(7);
  });
});

describe("the line that is shown", () => {
  const steps = [...line("abc"), step(4, "d", { branch: 1, wave: 2, status: "edited" })];
  const forked = state(steps, { branches: [...state([]).branches, branch(1, 0, 1)], branch: 1, step: 4 });

  it("goes along the parents up to where each was left", () => {
    expect([...lineage(forked)]).toEqual([
      [1, Number.POSITIVE_INFINITY],
      [0, 1],
    ]);
  });

  it("finds the shown step on it", () => {
    expect(shownStep(forked)?.node).toBe("d");
    expect(shownStep({ ...forked, looking: 1 })?.node).toBe("a");
    expect(shownStep({ ...forked, looking: 2 })).toBeNull(); // on the line that was left
  });

  it("names the nodes whose result is a person's", () => {
    expect([...editedNodes(forked)]).toEqual(["d"]);
    expect([...editedNodes({ ...forked, looking: 1 })]).toEqual([]);
  });

  it("ends even if branches name each other as parents", () => {
    expect(lineage({ ...forked, branches: [branch(0, 1, 1), branch(1, 0, 1)] }).size).toBe(2);
  });
});

describe("the strip of a long run", () => {
  it("puts all steps into at most so many bars, the worst of each on top", () => {
    const steps = Array.from({ length: 1000 }, (_, i) =>
      step(i + 1, "n", i === 500 ? { status: "failed", duration_s: 4 } : {}),
    );
    const bars = densityBars(state(steps), 160);
    expect(bars.length).toBeLessThanOrEqual(160);
    expect([bars[0]?.first, bars.at(-1)?.last]).toEqual([1, 1000]);
    expect(bars.filter((bar) => bar.look === "failed")).toHaveLength(1);
    expect(Math.max(...bars.map((bar) => bar.height))).toBe(1);
  });

  it("follows the current line only", () => {
    const steps = [...line("abc"), step(4, "d", { branch: 1, wave: 2 })];
    const forked = state(steps, { branches: [...state([]).branches, branch(1, 0, 1)], branch: 1 });
    expect(densityBars(forked, 160).map((bar) => bar.first)).toEqual([1, 4]);
  });

  it("has no bars for no steps", () => {
    expect(densityBars(state([]), 160)).toEqual([]);
  });
});

describe("the columns of the timeline", () => {
  const needs = { names: [50, 60], uses: [0, 100] };

  it("show what steps called only where everything fits", () => {
    // 124 for the lanes' names, 34 for each time and gap: 302 for the names, 402 with what was called.
    expect(shareOut(needs, 402)).toMatchObject({ tight: false, roomy: true });
    expect(shareOut(needs, 401)).toMatchObject({ tight: false, roomy: false });
    expect(shareOut(needs, 402).template).toContain(", 190px)");
    expect(shareOut(needs, 401).template).toContain(", 90px)");
  });

  it("give up the times before anything scrolls", () => {
    expect(shareOut(needs, 302).tight).toBe(false);
    expect(shareOut(needs, 301).tight).toBe(true);
  });
});
