import { describe, expect, it } from "vitest";
import { asking, at, failed, idle, past, paused, running } from "../dev/debugger_fixtures.ts";
import { debugActionOf, KEY_SHEET } from "../src/core/debug_keys.ts";
import { DebugStore } from "../src/core/debug_store.ts";
import { barWords, caption, changedWords, flat, sayChange, sessionChip } from "../src/core/debug_words.ts";
import { withGates } from "../src/core/overlay.ts";
import { reduce } from "../src/core/reduce.ts";
import { hintOf, labelOf, TOOLS, type ToolName, whyNot } from "../src/core/tools.ts";
import type { DebugState } from "../src/protocol/generated_debugging.ts";

const names = (id: string) => id;
const bar = ({ debug, snapshot }: ReturnType<typeof past>) => flat(barWords(debug, snapshot, names));
const tool = (name: ToolName) => TOOLS.find((one) => one?.name === name) as Exclude<(typeof TOOLS)[number], null>;
const hint = (name: ToolName, state: DebugState, target: string | null = null) =>
  hintOf(tool(name), state, names, target);

describe("the bar", () => {
  it("says in the past that nothing runs and what going on makes", () => {
    expect(bar(past())).toBe(
      "You are looking at step 9 of 13 — nothing runs until you press Resume here (makes branch b2)",
    );
  });

  it("names the start as the start", () => {
    expect(bar({ ...past(), debug: { ...past().debug, looking: 0 } })).toContain("the start, before step 1 of 13");
  });

  it("says where inside of a sub-graph one looks, and so does what is spoken and the caption", () => {
    const inside = { number: 3, owner: 10, node: "draft", text: "inside research, step 2 of 4" };
    const there = { ...past(), debug: { ...past().debug, inside } };
    expect(bar(there)).toContain("You are looking at step 9 of 13, inside research, step 2 of 4 — nothing runs");
    expect(flat(caption(there.debug, names))).toBe("Inside research, step 2 of 4: draft");
    expect(hint("resume", there.debug)).toBe("Run on from step 9, inside research, step 2 of 4, on the new branch b2");
    const before = { ...there.debug, inside: { ...inside, number: 2, text: "inside research, step 1 of 4" } };
    expect(sayChange(there.debug, before, there.snapshot, names)).toEqual([
      { text: "Looking at step 9 of 13, inside research, step 2 of 4, nothing runs.", assertive: false },
    ]);
    const live = { ...paused().debug, stopped_at: ["research › rank"], inside };
    expect(sayChange(live, { ...live, inside: null }, paused().snapshot, names)).toEqual([
      { text: "Stopped before research › rank, breakpoint.", assertive: true },
    ]);
  });

  it("says where it stopped, what runs, what broke, and how to begin", () => {
    expect(bar(paused())).toBe("Stopped before human_review — breakpoint");
    expect(bar(running())).toBe("draft writes: …VAT is charged twice because of a rounding step in the");
    expect(bar(failed())).toBe("run_tests failed: KeyError: 'socre'");
    expect(bar(idle())).toBe("Run R, or support.start(...)");
  });

  it("promises nothing where no kernel is", () => {
    const { debug, snapshot } = past();
    expect(flat(barWords(debug, snapshot, names, true))).toContain("as it was saved");
  });

  it("names three of many that run, counts the others, and says why a button waits", () => {
    const { debug, snapshot } = idle();
    const ids = ["plan", "search_docs", "read_code", "search_web", "draft"];
    const started = (count: number) =>
      ids
        .slice(0, count)
        .reduce((now, node) => reduce(now, { type: "node_started", at_s: 1, node, visit: 1 }), snapshot);
    const words = (count: number, reason = "") =>
      flat(barWords({ ...debug, status: "running", reason }, started(count), names));
    expect(words(3)).toBe("Running plan, search_docs and read_code");
    expect(words(5)).toMatch(/^Running \w+, \w+, \w+ and 2 more$/);
    expect(words(1, "a cell holds it")).toBe("Running plan — a cell holds it");
  });
});

const chip = ({ debug, snapshot }: ReturnType<typeof past>, saved: boolean, held: string) =>
  sessionChip(debug, snapshot, saved, held);

describe("a question", () => {
  it("is the word and the bar while nothing else is under way", () => {
    expect(chip(asking(), false, "")).toEqual({ look: "waiting", word: "Waits for you" });
    expect(bar(asking())).toBe("human_review asks: Refund 40 € to the customer of invoice 1182? (1 of 2 questions)");
  });

  it("doesn't hide that something else runs", () => {
    const { debug, snapshot } = asking();
    const busy = reduce(snapshot, { type: "node_started", at_s: 40, node: "draft", visit: 3 });
    expect(sessionChip(debug, busy, false, "").word).toBe("Running");
    expect(bar({ ...asking(), snapshot: busy })).toContain("human_review asks");
  });

  it("is waited for before a pause, and named in the past", () => {
    const { debug, snapshot } = asking();
    expect(flat(barWords({ ...debug, status: "pausing" }, snapshot, names))).toMatch(
      /questions\)\. Once that is answered/,
    );
    const back = { ...debug, looking: 9 };
    expect(flat(barWords(back, snapshot, names))).toMatch(/human_review asks you something: answer it live$/);
    expect(flat(barWords(back, snapshot, names, true))).not.toContain("human_review");
  });

  it("stops being asked once its run has ended", () => {
    const { snapshot } = asking();
    const ended = reduce(snapshot, { type: "run_finished", at_s: 40, reason: "stopped", message: "", result: null });
    expect(ended.nodes.human_review).toMatchObject({ status: "skipped", question: "" });
  });
});

describe("the chip", () => {
  it("is inverted in the past and tells of a kernel that is busy or gone", () => {
    expect(chip(past(), false, "")).toEqual({ look: "past", word: "Past: step 9 of 13" });
    expect(chip(paused(), false, "busy").word).toBe("Queued");
    expect(chip(past(), true, "busy").word).toBe("Saved view");
    expect(chip(failed(), false, "")).toEqual({ look: "failed", word: "Failed" });
  });
});

describe("captions", () => {
  it("name the step and its visit, and count what changed", () => {
    expect(flat(caption(past().debug, names))).toBe("After step 9: draft, 2nd visit");
    expect(changedWords(past().debug)).toBe("3 of 9 keys changed");
    expect(changedWords({ ...past().debug, state: [] })).toBe("no keys yet");
    expect(flat(caption({ ...past().debug, looking: 0 }, names))).toBe("Before the first step");
  });
});

describe("the tools", () => {
  it("say what they would do", () => {
    expect(hint("step_wave", at(9, 1).debug)).toBe("Run every ready node (critic), then stop");
    expect(hint("resume", past().debug)).toBe("Run on from step 9, on the new branch b2");
    expect(hint("run_to", paused().debug, "merge")).toBe("Run until merge is next");
  });

  it("say why they can't", () => {
    expect(hint("pause", paused().debug)).toBe("Pause: nothing runs");
    expect(hint("run_to", paused().debug)).toBe("Run to here: choose a node in the graph first");
    expect(whyNot("step_one", running().debug, null)).toBe("Step one: a node is running");
  });

  it("call the first one by what it does now", () => {
    const first = (state: DebugState) => labelOf(tool("resume"), state);
    expect([idle(), paused(), past()].map(({ debug }) => first(debug))).toEqual(["Run", "Resume", "Resume here"]);
    expect(first({ ...paused().debug, status: "finished" })).toBe("Run");
    expect(whyNot("resume", idle().debug, null)).toBe("");
  });
});

describe("what is spoken", () => {
  const say = (now: DebugState, before: DebugState) => sayChange(now, before, paused().snapshot, names);

  it("tells of going back and coming home", () => {
    expect(say(past().debug, paused().debug)).toEqual([
      { text: "Looking at step 9 of 13, nothing runs.", assertive: false },
    ]);
    expect(say(paused().debug, past().debug)).toEqual([{ text: "Back to live, step 13.", assertive: false }]);
  });

  it("breaks in for a stop and a failure", () => {
    const stopped = say(paused().debug, running().debug);
    expect(stopped).toContainEqual({ text: "Stopped before human_review, breakpoint.", assertive: true });
    const broke = sayChange(failed().debug, running().debug, failed().snapshot, names);
    expect(broke).toEqual([{ text: "run_tests failed: KeyError: 'socre'.", assertive: true }]);
  });

  it("tells of a new branch, once", () => {
    const one = { ...paused().debug, branches: paused().debug.branches.slice(0, 1) };
    expect(say(paused().debug, one)).toEqual([{ text: "Branch b1 made from step 6.", assertive: false }]);
    expect(say(paused().debug, paused().debug)).toEqual([]);
  });
});

describe("the keys", () => {
  const press = (key: string, more: Partial<Parameters<typeof debugActionOf>[0]> = {}) =>
    debugActionOf({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

  it("mean what the sheet says", () => {
    expect(["r", "p", "s", "t", "b", "e", "w", "[", "]", "?"].map((key) => press(key))).toEqual([
      ...["resume", "pause", "step_wave", "run_to", "breakpoint", "edit", "why", "step_back", "step_forward", "help"],
    ]);
    expect(press("S", { shiftKey: true })).toBe("step_one");
    expect(press("X", { shiftKey: true })).toBe("stop");
    expect(press("B", { shiftKey: true })).toBe("condition");
    expect([press("i"), press("I", { shiftKey: true })]).toEqual(["step_into", "step_out"]);
    expect(press("x")).toBeNull();
    expect(press("R", { shiftKey: true })).toBeNull();
  });

  it("hold with caps lock, and leave the browser's own alone", () => {
    expect(press("S")).toBe("step_wave");
    expect(press("r", { ctrlKey: true })).toBeNull();
    expect(press("s", { metaKey: true })).toBeNull();
  });

  it("reach brackets behind AltGr", () => {
    expect(press("[", { ctrlKey: true, altKey: true })).toBe("step_back");
  });

  it("are all on the sheet", () => {
    const listed = KEY_SHEET.flatMap(([, keys]) => keys.map(([key]) => key)).join(" ");
    for (const key of [
      "R",
      "P",
      "S",
      "⇧ S",
      "I",
      "⇧ I",
      "T",
      "⇧ X",
      "[ ]",
      "Home",
      "End",
      "1 – 6",
      "W",
      "?",
      "B",
      "⇧ B",
      "E",
    ])
      expect(listed).toContain(key);
  });
});

describe("the gates", () => {
  it("stand before what comes next, and leave the rest of the picture as it is", () => {
    const { snapshot, debug } = paused();
    const gated = withGates(snapshot, debug);
    expect(gated.nodes.human_review?.status).toBe("paused");
    expect(gated.nodes.draft).toBe(snapshot.nodes.draft);
    expect(withGates(snapshot, { ...debug, stopped_at: ["nobody"] })).toBe(snapshot);
  });

  it("are left out where something broke: that is where the session stopped, the rest is queued", () => {
    const { snapshot, debug } = failed();
    const both = { ...debug, stopped_at: ["run_tests", "tools", "plan"] };
    const nodes = withGates(snapshot, both).nodes;
    expect(["run_tests", "tools", "plan"].map((id) => nodes[id]?.status)).toEqual(["failed", "queued", "queued"]);
    const looking = withGates(snapshot, { ...both, looking: 12, would_run: ["plan"] }).nodes;
    expect(looking.plan?.status).toBe("paused");
  });

  it("don't hide what runs or broke", () => {
    const { snapshot, debug } = running();
    expect(withGates(snapshot, { ...debug, stopped_at: ["draft"] })).toBe(snapshot);
  });
});

describe("the store of states", () => {
  it("takes newer states and ignores older ones", () => {
    const store = new DebugStore();
    store.receive({ ...paused().debug, seq: 5 }, null);
    store.receive({ ...past().debug, seq: 4 }, null);
    expect(store.state.looking).toBeNull();
    store.offer({ ...past().debug, seq: 5 }, null);
    expect(store.state.looking).toBeNull();
    store.receive({ ...past().debug, seq: 6 }, past().picture);
    expect(store.state.looking).toBe(9);
  });

  it("keeps the picture of a past point while only the rest of the state changes", () => {
    const store = new DebugStore();
    const { debug, picture } = at(9, 1);
    store.receive(debug, picture);
    store.receive({ ...debug, seq: 2 }, null);
    expect(store.picture).toBe(picture);
    store.receive({ ...debug, looking: 8, seq: 3 }, null);
    expect(store.lacksPicture).toBe(true);
    store.receive({ ...debug, looking: null, seq: 4 }, null);
    expect(store.lacksPicture).toBe(false);
  });

  it("tells its listeners what it was before, until they leave", () => {
    const store = new DebugStore();
    const life = new AbortController();
    const heard: (number | null)[][] = [];
    store.subscribe((now, before) => heard.push([before.looking, now.looking]), life.signal);
    store.receive(past().debug, null);
    life.abort();
    store.receive({ ...paused().debug, seq: 9 }, null);
    expect(heard).toEqual([[null, 9]]);
  });
});
