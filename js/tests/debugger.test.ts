import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  asking,
  calling,
  type Fixture,
  failed,
  idle,
  joining,
  long,
  looping,
  past,
  paused,
  running,
} from "../dev/debugger_fixtures.ts";
import { FakeDebugModel } from "../dev/fake_debug_model.ts";
import type { Model } from "../src/bridge/channel.ts";
import type { WireStep, WireWaiting } from "../src/protocol/generated_debugging.ts";
import widget from "../src/widgets/debugger.ts";

let lives: AbortController[] = [];

interface Open {
  readonly el: HTMLElement;
  readonly els: readonly HTMLElement[];
  readonly model: FakeDebugModel;
  readonly end: () => void;
}

/** What anywidget does: load the module, initialize the model, render views of it. */
async function open(fixture: Fixture, views = 1): Promise<Open> {
  const model = new FakeDebugModel(fixture);
  const life = new AbortController();
  lives.push(life);
  const definition = widget();
  const props = { model: model as Model, signal: life.signal } as unknown as Parameters<
    typeof definition.initialize
  >[0];
  definition.initialize(props);
  const els = Array.from({ length: views }, () => document.body.appendChild(document.createElement("div")));
  for (const el of els) definition.render({ ...props, el } as unknown as Parameters<typeof definition.render>[0]);
  await settle();
  return { el: els[0] as HTMLElement, els, model, end: () => life.abort() };
}

/** Frames, replies and what follows from them. */
async function settle(): Promise<void> {
  for (let i = 0; i < 4; i++) await vi.advanceTimersByTimeAsync(20);
}

const all = (el: HTMLElement, selector: string) => [...el.querySelectorAll<HTMLElement>(selector)];
const one = (el: HTMLElement, selector: string) => el.querySelector(selector) as HTMLElement;
const node = (el: HTMLElement, id: string) => el.querySelector(`[data-node="${id}"]`) as SVGGElement;
const tool = (el: HTMLElement, name: string) => one(el, `[data-tool="${name}"]`);
const tab = (el: HTMLElement, name: string) =>
  all(el, '[role="tab"]').find((each) => each.textContent?.startsWith(name)) as HTMLElement;
const labelled = (el: HTMLElement, label: string) =>
  all(el, "[aria-label]").find((each) => each.getAttribute("aria-label") === label) as HTMLElement;
const press = (target: Element, key: string, more: KeyboardEventInit = {}) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
const click = (target: Element) => target.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
const view = (el: HTMLElement) => one(el, ".debugger");
const last = (model: FakeDebugModel) => {
  // What the panels ask on their own comes in between.
  const done = model.asked.filter((command) => command.type !== "inspect_key" && command.type !== "resync");
  const { request_id, ...command } = done.at(-1) ?? { request_id: "" };
  return command;
};
const asked = (model: FakeDebugModel, type: string) => model.asked.filter((command) => command.type === type);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (callback: FrameRequestCallback) => setTimeout(() => callback(0), 16));
  vi.stubGlobal("cancelAnimationFrame", clearTimeout);
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(1100);
});

afterEach(() => {
  for (const life of lives.splice(0)) life.abort();
  lives = [];
  document.body.replaceChildren();
  vi.useRealTimers();
});

describe("the toolbar", () => {
  it("sends its commands", async () => {
    const { el, model } = await open(paused());
    for (const name of ["resume", "step_back", "step_one", "step_wave", "stop"]) {
      click(tool(el, name));
      expect(last(model)).toMatchObject({ type: name });
    }
    await settle();
  });

  it("keeps what isn't allowed in its place, dimmed, and says why", async () => {
    const { el, model } = await open(paused());
    const pause = tool(el, "pause");
    expect(pause.getAttribute("aria-disabled")).toBe("true");
    expect(pause.dataset.hint).toBe("Pause: nothing runs");
    click(pause);
    await settle();
    expect(asked(model, "pause")).toEqual([]);
    await vi.advanceTimersByTimeAsync(500);
    expect(one(el, '[aria-live="polite"]').textContent).toContain("Pause: nothing runs.");
  });

  it("runs to the node that was chosen", async () => {
    const { el, model } = await open(paused());
    expect(tool(el, "run_to").getAttribute("aria-disabled")).toBe("true");
    click(node(el, "summarise"));
    await settle();
    click(tool(el, "run_to"));
    expect(last(model)).toEqual({ type: "run_to", node: "summarise" });
  });

  it("is one tab stop that arrows move in", async () => {
    const { el } = await open(paused());
    const stops = () => all(el, '.tools button[tabindex="0"]').map((each) => each.dataset.tool);
    expect(stops()).toEqual(["resume"]);
    tool(el, "resume").focus();
    press(tool(el, "resume"), "ArrowRight");
    expect(stops()).toEqual(["pause"]);
    expect(document.activeElement).toBe(tool(el, "pause"));
  });

  it("shows in the bar what a command was refused for, until the next one is carried out", async () => {
    const { el, model } = await open(paused());
    model.refuse("tools would act again", "press it once more");
    click(tool(el, "step_wave"));
    await settle();
    expect(one(el, ".now.refused").textContent).toContain(
      "tools would act again · graph 'support' — press it once more",
    );
    click(tool(el, "step_wave"));
    await settle();
    expect(one(el, ".now.refused")).toBeNull();
  });

  it("says when the kernel is busy, and stops saying it when it answers", async () => {
    const { el, model } = await open(paused());
    model.answers = false;
    click(tool(el, "step_wave"));
    await vi.advanceTimersByTimeAsync(1000);
    expect(one(el, ".tools .chip").textContent).toBe("Queued");
    const { request_id } = model.asked.at(-1) ?? {};
    model.emit("msg:custom", { type: "reply", request_id, ok: true, result: null });
    await settle();
    expect(one(el, ".tools .chip").textContent).toBe("Paused");
  });

  it.each([
    ["paused", paused, "Resume", ".tools .primary:not(.calm)"],
    ["failed", failed, "Retry", ".ways .primary"],
    ["asking", asking, "Answer⏎", ".ask .primary"],
  ])("has the only filled button, unless a card has it: %s", async (_, fixture, word, place) => {
    const { el } = await open(fixture());
    expect(all(el, ".primary:not(.calm)")).toEqual(all(el, place));
    expect(one(el, place).textContent).toBe(word);
  });

  it("tells keys and reasons in a tooltip, after 400 ms of rest", async () => {
    const { el } = await open(paused());
    const tip = () => (one(el, ".tip").hidden ? "" : one(el, ".tip").textContent);
    const over = (name: string) => tool(el, name).dispatchEvent(new Event("pointerover", { bubbles: true }));
    over("step_wave");
    await vi.advanceTimersByTimeAsync(390);
    expect(tip()).toBe("");
    await vi.advanceTimersByTimeAsync(20);
    expect(tip()).toBe("Run every ready node (human_review), then stopS");
    over("pause");
    expect(tip()).toBe("");
    await vi.advanceTimersByTimeAsync(410);
    expect(tip()).toBe("Pause: nothing runsP");
  });

  it("isn't offered without a kernel", async () => {
    const { el, model } = await open(past());
    model.emit("comm:close", null);
    await settle();
    expect(one(el, ".tools .chip").textContent).toBe("Saved view");
    press(view(el), "s");
    await settle();
    expect(asked(model, "step_wave")).toEqual([]);
    expect(all(el, ".tree .pencil")).toEqual([]);
  });
});

describe("the past", () => {
  it("is looked at, and left again", async () => {
    const { el, model } = await open(paused());
    press(view(el), "[");
    await settle();
    expect(last(model)).toMatchObject({ type: "step_back", count: 1 });
    expect(view(el).classList).toContain("in-past");
    expect(one(el, ".now").textContent).toContain("step 12 of 13");
    expect(tool(el, "resume").textContent).toBe("Resume here");
    press(view(el), "End");
    await settle();
    expect(last(model)).toEqual({ type: "live" });
    expect(view(el).classList).not.toContain("in-past");
  });

  it("shows the picture of then, with a gate before what would run and a ring on what ran", async () => {
    const { el } = await open(past());
    expect(node(el, "critic").classList).toContain("paused");
    expect(node(el, "run_tests").classList).toContain("idle");
    expect(all(el, ".marks .shown")).toHaveLength(1);
    const { el: live } = await open(paused());
    expect(node(live, "human_review").classList).toContain("paused");
    expect(node(live, "run_tests").classList).toContain("done");
    expect(all(live, ".marks .shown")).toHaveLength(0);
  });

  it("asks for the picture that a page loaded anew doesn't have", async () => {
    const { model } = await open({ ...past(), picture: null });
    expect(asked(model, "goto")).toMatchObject([{ count: 9, branch: 0 }]);
  });

  it("moves nothing in the graph: the same elements, the same places", async () => {
    const { el } = await open(paused());
    const before = node(el, "draft");
    press(view(el), "[");
    await settle();
    expect(node(el, "draft")).toBe(before);
  });
});

describe("breakpoints", () => {
  it("are set and taken away by key at the chosen node", async () => {
    const { el, model } = await open(paused());
    click(node(el, "critic"));
    press(node(el, "critic"), "b");
    await settle();
    expect(asked(model, "set_breakpoint")).toMatchObject([
      { id: null, kind: "node", node: "critic", when: "before", enabled: true },
    ]);
    expect(all(el, ".marks .bp")).toHaveLength(4);
    press(node(el, "critic"), "b");
    await settle();
    expect(asked(model, "remove_breakpoint")).toHaveLength(1);
    expect(all(el, ".marks .bp")).toHaveLength(3);
  });

  it("are set by a click on a node's left border, with a ghost under the pointer", async () => {
    const { el, model } = await open(idle());
    const svg = one(el, "svg.graph");
    const [x, y] = (/translate\(([\d.]+) ([\d.]+)\)/.exec(node(el, "critic").getAttribute("transform") ?? "") ?? [])
      .slice(1)
      .map(Number);
    const world = one(el, ".world").style.transform;
    const [, tx, ty, scale] = /translate\((.+)px, (.+)px\) scale\((.+)\)/.exec(world)?.map(Number) ?? [];
    const at = {
      clientX: (x ?? 0) * (scale ?? 1) + (tx ?? 0) - 5,
      clientY: ((y ?? 0) + 10) * (scale ?? 1) + (ty ?? 0),
      bubbles: true,
    };
    svg.dispatchEvent(new PointerEvent("pointermove", at));
    expect(all(el, ".bp.ghost")).toHaveLength(1);
    svg.dispatchEvent(new MouseEvent("click", at));
    await settle();
    expect(asked(model, "set_breakpoint")).toMatchObject([{ node: "critic" }]);
    svg.dispatchEvent(new PointerEvent("pointermove", { ...at, clientX: at.clientX - 40 }));
    expect(all(el, ".bp.ghost")).toEqual([]);
  });

  it("take a condition from the form", async () => {
    const { el, model } = await open(paused());
    click(node(el, "critic"));
    press(node(el, "critic"), "B", { shiftKey: true });
    await settle();
    const field = labelled(el, "Condition") as HTMLInputElement;
    field.value = 'state["score"] > 0.5';
    press(field, "Enter");
    await settle();
    expect(asked(model, "set_breakpoint")).toMatchObject([
      { node: "critic", condition: 'state["score"] > 0.5', hit: null },
    ]);
    expect(all(el, ".bp-form")).toEqual([]);
  });

  it("are switched off and on in the list", async () => {
    const { el, model } = await open(paused());
    click(tab(el, "Breakpoints"));
    const box = one(el, ".p-bp input") as HTMLInputElement;
    box.checked = false;
    box.dispatchEvent(new Event("change"));
    await settle();
    expect(asked(model, "set_breakpoint")).toMatchObject([{ id: "1", node: "human_review", enabled: false }]);
  });

  it("are drawn by what they do: stop, stop if, log, off", async () => {
    const { el } = await open(paused());
    expect(all(el, ".marks .bp .mark")).toHaveLength(1);
    click(tab(el, "Breakpoints"));
    expect(all(el, ".p-bp .i.bp.off")).toHaveLength(1);
  });
});

describe("the state", () => {
  const row = (el: HTMLElement, name: string) =>
    all(el, ".tree .row").find((each) => one(each, ".key").textContent === name) as HTMLElement;
  const startEdit = async (el: HTMLElement, name: string) => {
    row(el, name).dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
    await settle();
    return one(el, ".tree textarea") as HTMLTextAreaElement;
  };

  it("shows what the step did: old and new, and how a number grew", async () => {
    const { el } = await open(past());
    expect(row(el, "tokens").textContent).toContain("1,204 1,611 +407");
    expect(
      all(el, ".tree .whole del")
        .map((each) => each.textContent)
        .join(""),
    ).toContain("charged twice");
    expect(row(el, "0–5").textContent).toContain("6 unchanged");
    expect(row(el, "6").classList).toContain("add");
  });

  it("draws names and values as text", async () => {
    const { el } = await open(past());
    expect(el.querySelector("img, script")).toBeNull();
    expect(row(el, "<img src=x onerror=alert(1)>").textContent).toContain("<script>");
  });

  it("checks an edit while it is typed, and applies it on Enter", async () => {
    const { el, model } = await open(past());
    const field = await startEdit(el, "max_revisions");
    expect(field.value).toBe("2");
    expect(one(el, ".verdict.good").textContent).toBe("int, 0 or more");
    expect(one(el, ".makes").textContent).toContain("makes branch b2");
    field.value = "many";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await vi.advanceTimersByTimeAsync(300);
    expect(one(el, ".verdict.bad").textContent).toContain("many is no int, 0 or more");
    press(field, "Enter");
    await settle();
    expect(one(el, ".tree textarea")).toBe(field); // refused: it stays
    field.value = "3";
    press(field, "Enter");
    await settle();
    expect(last(model)).toMatchObject({ type: "edit", key: "max_revisions", text: "3", check: false });
    expect(one(el, ".tree textarea")).toBeNull();
    await vi.advanceTimersByTimeAsync(500);
    expect(one(el, '[aria-live="polite"]').textContent).toContain("max_revisions changed from 2 to 3.");
  });

  it("keeps the field and what is in it while new states come", async () => {
    const { el, model } = await open(paused());
    const field = await startEdit(el, "max_revisions");
    field.value = "12";
    model.show({ watches: [] });
    await settle();
    expect(one(el, ".tree textarea")).toBe(field);
    expect(field.value).toBe("12");
    expect(document.activeElement).toBe(field);
  });

  it("lets Escape leave a field without applying, and letters in it mean letters", async () => {
    const { el, model } = await open(paused());
    const field = await startEdit(el, "max_revisions");
    press(field, "r");
    press(field, "Escape");
    await settle();
    expect(asked(model, "resume")).toEqual([]);
    expect(model.asked.filter((command) => command.type === "edit" && !command.check)).toEqual([]);
    expect(document.activeElement).toBe(row(el, "max_revisions"));
  });

  it("is one tab stop that arrows walk and open", async () => {
    const { el } = await open(paused());
    expect(all(el, '.tree [tabindex="0"]')).toHaveLength(1);
    row(el, "findings").focus();
    press(row(el, "findings"), "ArrowRight");
    await settle();
    expect(row(el, "findings").getAttribute("aria-expanded")).toBe("true");
    press(row(el, "findings"), "ArrowDown");
    expect(document.activeElement).toBe(row(el, "searches"));
    press(row(el, "searches"), "ArrowLeft");
    expect(document.activeElement).toBe(row(el, "findings"));
  });

  it("asks the kernel once for an open value, and again when a step changed it", async () => {
    const { model } = await open(paused());
    const count = () =>
      asked(model, "inspect_key").filter((command) => "key" in command && command.key === "draft").length;
    expect(count()).toBe(1);
    model.show({ watches: [] });
    await settle();
    expect(count()).toBe(1);
    model.show({ step: 14 });
    await settle();
    expect(count()).toBe(2);
  });

  it("says after which step it has no keys", async () => {
    const { debug, ...rest } = asking();
    const { el } = await open({ ...rest, debug: { ...debug, state: [] } });
    const cap = one(el, ".p-state .cap");
    expect(cap.hidden).toBe(false);
    expect(cap.textContent).toBe("After step 13: run_testsno keys yet");
  });

  it("watches expressions", async () => {
    const { el, model } = await open(paused());
    expect(one(el, ".watches .bad").textContent).toContain("did you mean 'score'?");
    const field = labelled(el, "Expression to watch") as HTMLInputElement;
    field.value = "state['topic']";
    press(field, "Enter");
    await settle();
    expect(last(model)).toEqual({ type: "watch", text: "state['topic']" });
    expect(field.value).toBe("");
    expect(all(el, ".watches li")).toHaveLength(3);
  });
});

describe("a run", () => {
  it("is asked its inputs where none has been, checks them, and begins", async () => {
    const { el, model } = await open(idle());
    const field = labelled(el, "messages") as HTMLTextAreaElement;
    expect(one(el, ".inputs").textContent).toContain("int, 0 or more");
    press(field, "Enter");
    await settle();
    expect(asked(model, "run")).toEqual([]);
    expect(one(el, ".inputs .bad").textContent).toBe("needed");
    field.value = "Why twice?";
    press(field, "Enter");
    await settle();
    expect(asked(model, "run")).toMatchObject([
      {
        inputs: {
          messages: [{ role: "user", content: "Why twice?" }],
          topic: "billing",
          max_revisions: 2,
          strict: false,
        },
      },
    ]);
  });

  it("is asked its inputs again once it has finished", async () => {
    const { el, model } = await open({
      ...paused(),
      debug: { ...paused().debug, status: "finished", stopped_at: [], would_run: [] },
    });
    expect(one(el, ".inputs").hidden).toBe(true);
    press(view(el), "r");
    await settle();
    expect(one(el, ".inputs").hidden).toBe(false);
    expect(asked(model, "run")).toEqual([]);
  });

  it("begins by the toolbar once something was entered, and leads to the inputs before", async () => {
    const { el, model } = await open(idle());
    const field = labelled(el, "messages") as HTMLTextAreaElement;
    click(tool(el, "resume"));
    await settle();
    expect(document.activeElement).toBe(field);
    expect(asked(model, "run")).toEqual([]);
    field.value = "Why twice?";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    click(tool(el, "resume"));
    await settle();
    expect(asked(model, "run")).toHaveLength(1);
  });

  it("that hasn't begun says how it begins, with the key as a key", async () => {
    const { el } = await open(idle());
    expect(one(el, ".now .say").textContent).toBe("Run R, or support.start(...)");
    expect(one(el, ".now .say kbd").textContent).toBe("R");
  });

  it("says why buttons wait where a cell holds them", async () => {
    const { el, model } = await open(running());
    model.show({ reason: "a cell awaits this session" });
    await settle();
    expect(one(el, ".now").textContent).toContain("a cell awaits this session");
  });

  it("shows on the timeline what is at work, then where it stopped", async () => {
    const { el, model } = await open(running());
    expect(one(el, ".job.live.running").textContent).toBe("draft");
    expect(model.snapshot.nodes.draft?.status).toBe("running");
  });

  it("that failed offers the three ways on", async () => {
    const { el, model } = await open(failed());
    const ways = all(el, ".ways button");
    expect(ways.map((each) => each.textContent)).toEqual(["Retry", "Edit state", "Skip with a delta"]);
    click(ways[0] as HTMLElement);
    expect(last(model)).toEqual({ type: "retry" });
    click(ways[2] as HTMLElement);
    await settle();
    const value = labelled(el, "Value, as a Python or JSON literal") as HTMLTextAreaElement;
    const key = labelled(el, "State key") as HTMLSelectElement;
    key.value = "score";
    value.value = "0.9";
    press(value, "Enter");
    await settle();
    expect(last(model)).toEqual({ type: "skip", task: "w run_tests", delta: { score: "0.9" } });
    expect(el.querySelector(".skip")).toBeNull();
  });

  it("that failed shows its error while it is live only", async () => {
    const { el, model } = await open(failed());
    expect(one(el, ".failure").hidden).toBe(false);
    expect(one(el, ".failure").textContent).toContain("KeyError in run_tests");
    press(view(el), "[");
    await settle();
    expect(model.debug.looking).toBe(12);
    expect(one(el, ".failure").hidden).toBe(true);
  });

  it("tells what streams in the bar", async () => {
    const { el } = await open(running());
    expect(one(el, ".now").textContent).toContain("draft writes");
    expect(tool(el, "pause").getAttribute("aria-disabled")).toBeNull();
  });
});

describe("the panels", () => {
  it("are reached by number", async () => {
    const { el } = await open(past());
    for (const [i, name] of ["p-state", "p-msg", "p-wait", "p-bp", "p-why", "p-log"].entries()) {
      press(view(el), String(i + 1));
      await settle();
      expect(all(el, ".panel").map((each) => each.classList[1])).toEqual([name]);
    }
  });

  it("count what waits", async () => {
    const { el, model } = await open(joining());
    expect(tab(el, "Waiting").textContent).toBe("Waiting2");
    press(view(el), "3");
    await settle();
    expect(all(el, ".p-wait .arr").map((each) => each.textContent)).toEqual([
      "search_docs",
      "read_code",
      "search_web: hasn't come",
    ]);
    click(all(el, ".p-wait button").find((each) => each.textContent === "Step one") as HTMLElement);
    expect(last(model)).toEqual({ type: "step_one", task: "w search_web" });
  });

  it("say what to do where they are empty", async () => {
    const fixture = paused();
    const debug = { ...fixture.debug, messages: null, waiting: [], breakpoints: [], log: [], would_run: ["critic"] };
    const { el } = await open({ ...fixture, debug });
    const texts: string[] = [];
    for (const key of ["2", "3", "4", "6"]) {
      press(view(el), key);
      await settle();
      texts.push(
        all(el, ".panel .none")
          .filter((each) => !each.hidden)
          .map((each) => each.textContent)
          .join(),
      );
    }
    expect(texts).toEqual([
      "This state has no list of messages.",
      "Nothing waits; critic is ready.",
      "Click a node's left border or press B.",
      "No output yet.",
    ]);
  });

  it("explain the chosen node, and another one when it is chosen", async () => {
    const { el, model } = await open(past());
    press(view(el), "w");
    await settle();
    expect(last(model)).toEqual({ type: "why", node: "critic" });
    expect(all(el, ".why li")).toHaveLength(4);
    expect(one(el, ".why .mono").textContent).toBe("tool_or_critic");
    click(node(el, "tools"));
    await settle();
    expect(last(model)).toEqual({ type: "why", node: "tools" });
  });

  it("give way to an opened node and come back on Escape", async () => {
    const { el } = await open(paused());
    press(node(el, "plan"), "Enter");
    await settle();
    expect(one(el, ".over .details").textContent).toContain("def plan(state)");
    expect(all(el, ".panel")).toEqual([]);
    press(one(el, ".over .details"), "Escape");
    await settle();
    expect(all(el, ".p-state")).toHaveLength(1);
    expect(document.activeElement).toBe(node(el, "plan"));
  });

  it("tell what check() found of an opened node", async () => {
    const fixture = paused();
    const fault = {
      code: "dead",
      level: "warning",
      nodes: ["plan"],
      what: "plan never ends",
      where: "",
      fix: "an edge",
    };
    const graph = { ...fixture.snapshot.graph, findings: [fault] } as Fixture["snapshot"]["graph"];
    const { el } = await open({ ...fixture, snapshot: { ...fixture.snapshot, graph } });
    press(node(el, "plan"), "Enter");
    await settle();
    expect(one(el, ".over .details").textContent).toContain("warning: plan never endsfix: an edge");
  });
});

describe("what nodes say", () => {
  const callout = (el: HTMLElement) => el.querySelector<HTMLElement>(".stage .callout");
  const line = (el: HTMLElement, look: string) =>
    el.querySelector<SVGElement>(`.leader.${look}`)?.getAttribute("d") ?? "";
  const lineShown = (el: HTMLElement) => (one(el, ".leader").parentElement as HTMLElement).style.display !== "none";
  const rect = (x: number, y: number, width: number, height: number) => new DOMRect(x, y, width, height);

  it("stands in the margin with a line to its node: a stream, and what broke with how to mend it", async () => {
    const streaming = await open(running());
    expect(callout(streaming.el)?.textContent).toMatch(/^draft9 chunksVAT is charged/);
    expect(line(streaming.el, "running")).toMatch(/^M/);
    // A card below the graph, as in a narrow view.
    vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockReturnValue(new DOMRect(0, 0, 1100, 400));
    const broken = await open(failed());
    expect(callout(broken.el)?.classList).toContain("failed");
    expect(callout(broken.el)?.textContent).toBe(
      "run_testsKeyError'socre' — did you mean 'score'? The state has: draft, findings, messages,…",
    );
    expect(line(broken.el, "failed")).toMatch(/^M/);
  });

  it("is told once where a card beside the graph tells what broke: the line goes on to it", async () => {
    const { el } = await open(failed());
    expect(callout(el)).toBeNull();
    expect(line(el, "failed")).toMatch(/^M/);
    expect(one(el, ".failure h3").textContent).toBe("KeyError in run_tests");
  });

  it.each([
    ["gives way as far as callouts need", 1100, 236],
    ["stays in the middle where they have room anyway", 2000, 500],
  ])("the picture %s", async (_, width, right) => {
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(width);
    const { el, model } = await open(paused());
    const { transform } = one(el, ".world").style;
    const [, x = "0", scale = "1"] = /translate\(([\d.]+)px.*scale\(([\d.]+)\)/.exec(transform) ?? [];
    const free = width - model.snapshot.layout.width * Number(scale);
    expect(free - Number(x)).toBeGreaterThanOrEqual(right);
    expect(Number(x)).toBeGreaterThan(100);
    if (right === 500) expect(Number(x)).toBeCloseTo(free / 2);
  });

  it("is as it was at the shown point of the past", async () => {
    const { el, model } = await open(failed());
    const { debug, picture } = past();
    model.show({ looking: debug.looking }, picture);
    await settle();
    expect(callout(el)).toBeNull();
    expect(el.querySelector(".leader")).toBeNull();
  });

  it("without a margin is told by the bar and the inspector: the line goes on to the card, if that is beside", async () => {
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(600);
    const boxes = vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
      return this.classList.contains("failure") ? rect(600, 40, 372, 200) : rect(0, 0, 600, 500);
    });
    const beside = await open(failed());
    expect(callout(beside.el)).toBeNull();
    expect(line(beside.el, "failed")).toMatch(/L600 \d+$/);
    expect(lineShown(beside.el)).toBe(true);
    boxes.mockReturnValue(rect(0, 0, 600, 500)); // the inspector stands below
    const below = await open(failed());
    expect(callout(below.el)).toBeNull();
    expect(lineShown(below.el)).toBe(false);
    boxes.mockRestore();
  });
});

/** Tells the size once, as browsers do. */
class Measured {
  constructor(private readonly tell: () => void) {}
  observe(): void {
    queueMicrotask(this.tell);
  }
  disconnect(): void {}
}

describe("a low view", () => {
  /** The bottom of a node on screen. */
  const bottom = ({ el, model }: Open, id: string) => {
    const [, y = "0", scale = "1"] =
      /,\s*(-?[\d.]+)px\) scale\(([\d.]+)\)/.exec(one(el, ".world").style.transform) ?? [];
    const box = model.snapshot.layout.boxes[id];
    return ((box?.y ?? 0) + (box?.h ?? 0)) * Number(scale) + Number(y);
  };

  beforeEach(() => {
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(600);
    vi.stubGlobal("ResizeObserver", Measured);
  });

  it("shows the node that asks", async () => {
    expect(bottom(await open(asking()), "human_review")).toBeLessThan(256);
  });

  it("shows the step that is looked at together with what would run next", async () => {
    const opened = await open(past());
    expect(bottom(opened, "draft")).toBeGreaterThan(0);
    expect(bottom(opened, "critic")).toBeLessThan(256);
  });
});

describe("tools and tokens", () => {
  it("name the tool at work: in the node's callout, without a margin beside the node, and in the bar", async () => {
    const { el } = await open(calling());
    expect(one(el, "[data-callout=tools] header span").textContent).toMatch(/^search_orders, .*s$/);
    expect(one(el, ".notes").textContent).toBe("");
    expect(one(el, ".now").textContent).toContain("tools calls search_orders");
    expect(node(el, "plan").querySelector(".finding.waiting")).not.toBeNull();
    vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockReturnValue(600);
    const narrow = (await open(calling())).el;
    expect(narrow.querySelector("[data-callout]")).toBeNull();
    const note = () => one(narrow, ".notes text").textContent;
    expect(note()).toMatch(/^search_orders, .*s$/);
    const before = note();
    await vi.advanceTimersByTimeAsync(1000);
    expect(note()).not.toBe(before);
  });

  it("stand in the timeline: in its tooltips, and as small text where there is room", async () => {
    const observer = ResizeObserver;
    vi.stubGlobal("ResizeObserver", Measured);
    const { el } = await open(calling());
    const chip = all(el, ".time .job").find((each) => each.textContent?.startsWith("draft")) as HTMLElement;
    expect(chip.title).toContain("wrote draft and messages · 876 tokens");
    expect(chip.querySelector(".use")?.textContent).toBe("876 tokens");
    expect(one(el, ".timeline .time").classList).toContain("roomy");
    const { el: full } = await open(past());
    const called = all(full, ".time .job").find((each) => each.textContent?.startsWith("tools")) as HTMLElement;
    expect(called.title).toContain("find, read ×2");
    expect(one(full, ".timeline .time").classList).not.toContain("roomy");
    vi.stubGlobal("ResizeObserver", observer);
  });

  it("stand in the conversation, with their arguments", async () => {
    const { el } = await open(past());
    click(tab(el, "Messages"));
    await settle();
    expect(all(el, ".call").map((call) => call.textContent)).toContain('read_file(path="billing/tax.py")');
  });

  it("belong to the shown step in an opened node", async () => {
    const { el, model } = await open(past());
    press(node(el, "tools"), "Enter");
    await settle();
    expect(all(el, ".over .calls li")).toHaveLength(3);
    const askedBefore = asked(model, "inspect_node").length;
    press(view(el), "Home");
    await settle();
    expect(all(el, ".over .calls li")).toHaveLength(0);
    expect(asked(model, "inspect_node").length).toBeGreaterThan(askedBefore);
  });
});

describe("the timeline", () => {
  const chips = (el: HTMLElement) => all(el, ".time .job");

  it("goes to the step that is pressed", async () => {
    const { el, model } = await open(paused());
    click(chips(el).find((chip) => chip.title.startsWith("Step 7,")) as HTMLElement);
    await settle();
    expect(last(model)).toEqual({ type: "goto", count: 7, branch: 0 });
    expect(one(el, ".time .here").textContent).toContain("draft");
    expect(one(el, ".cursor b").textContent).toBe("7");
    expect(one(el, '[role="slider"]').getAttribute("aria-valuetext")).toContain("step 7 of 13");
  });

  it("goes to a step of another branch", async () => {
    const { el, model } = await open(paused());
    click(chips(el).find((chip) => chip.title.startsWith("Step 15,")) as HTMLElement);
    expect(last(model)).toEqual({ type: "goto", count: 15, branch: 1 });
  });

  it("opens into what ran inside of a sub-graph, and goes there", async () => {
    const { el, model } = await open(paused());
    const { steps } = model.debug;
    const draft = steps[6] as WireStep;
    const inner = [1, 2].map((n) => ({
      ...draft,
      node: "plan",
      number: 6,
      inner: n,
      owner: 7,
      wave: n,
      task: `i${n}`,
    }));
    const more = { steps: steps.map((step) => (step === draft ? { ...step, inside: 2 } : step)), inner };
    model.show(more);
    await settle();
    const owner = () => chips(el).find((chip) => chip.title.startsWith("Step 7,")) as HTMLElement;
    expect(owner().textContent).toContain("2 inside");
    expect(owner().title).toContain("2 inside");
    const count = chips(el).length;
    click(owner());
    expect(last(model)).toEqual({ type: "goto", count: 7, branch: 0 });
    expect(chips(el).length).toBe(count + 2);
    click(chips(el).filter((chip) => chip.title.startsWith("Inside, plan"))[1] as HTMLElement);
    expect(last(model)).toEqual({ type: "goto", count: 6, inside: 2, branch: 0 });
    click(owner());
    expect(chips(el).length).toBe(count);
    await settle();
    model.show({ ...more, looking: 7 });
    await settle();
    press(one(el, '[role="slider"]'), "Enter");
    expect(chips(el).length).toBeGreaterThan(count);
  });

  it("is a slider that arrows move", async () => {
    const { el, model } = await open(paused());
    const slider = one(el, '[role="slider"]');
    press(slider, "ArrowLeft");
    await settle();
    expect(last(model)).toMatchObject({ type: "step_back" });
    press(slider, "ArrowRight");
    await settle();
    expect(last(model)).toMatchObject({ type: "step_forward" });
    press(slider, "Home");
    await settle();
    expect(last(model)).toMatchObject({ type: "goto", count: 0 });
  });

  it("unfolds a loop on a click", async () => {
    const { el } = await open(looping());
    const before = chips(el).length;
    click(one(el, ".job.fold"));
    await settle();
    expect(one(el, ".job.fold")).toBeNull();
    expect(chips(el).length).toBe(before - 1 + 36);
  });

  it("stays where the live session stands while the past is looked at", async () => {
    const { el } = await open(paused());
    expect(one(el, ".job.live").textContent).toBe("human_review");
    press(view(el), "[");
    await settle();
    expect(one(el, ".job.live").textContent).toBe("human_review");
  });

  it("shows a strip of the whole above two hundred steps, and goes where it is pressed", async () => {
    const { el, model } = await open(long());
    expect(one(el, ".density").hidden).toBe(false);
    expect(chips(el).length).toBeLessThan(80);
    expect(one(el, ".density").dataset.hint).toMatch(/^Steps \d+ to 512; click to go there$/);
    const canvas = one(el, ".density svg");
    vi.spyOn(canvas, "getBoundingClientRect").mockReturnValue(new DOMRect(0, 0, 1000, 28));
    canvas.dispatchEvent(new MouseEvent("click", { clientX: 500, bubbles: true }));
    const target = asked(model, "goto").at(-1);
    expect(target && "count" in target ? target.count : 0).toBeGreaterThan(300);
    expect(target && "count" in target ? target.count : 0).toBeLessThan(325);
  });

  it("names branches, compares them and goes to their ends", async () => {
    const { el, model } = await open(paused());
    click(labelled(el, "Branch b1 edited"));
    const items = () => all(el, '[role="menuitem"]');
    expect(items().map((item) => item.textContent)).toEqual(["Go to its end", "Name…", "Compare with main"]);
    click(items()[2] as HTMLElement);
    await settle();
    expect(asked(model, "compare")).toMatchObject([{ a: 0, b: 1 }]);
    expect(one(el, ".compare").textContent).toContain("score");
    press(one(el, ".compare"), "Escape");
    await settle();
    click(labelled(el, "Branch b1 edited"));
    click(items()[1] as HTMLElement);
    const field = labelled(el, "Name of the branch") as HTMLInputElement;
    field.value = "better draft";
    press(field, "Enter");
    await settle();
    expect(last(model)).toEqual({ type: "name_branch", branch: 1, name: "better draft" });
    click(labelled(el, "Branch b1 edited"));
    click(items()[0] as HTMLElement);
    expect(last(model)).toEqual({ type: "goto", count: 16, branch: 1 });
  });
});

describe("the menu of a node", () => {
  it("opens on a right click, walks by arrows, and closes on Escape", async () => {
    const { el, model } = await open(paused());
    node(el, "human_review").dispatchEvent(
      new MouseEvent("contextmenu", { bubbles: true, cancelable: true, clientX: 9, clientY: 9 }),
    );
    const items = all(el, '[role="menuitem"]');
    expect(items[0]?.textContent).toBe("Remove breakpointB");
    press(items[0] as HTMLElement, "ArrowDown");
    expect(document.activeElement).toBe(items[1]);
    press(items[1] as HTMLElement, "Escape");
    expect(one(el, ".menu").hidden).toBe(true);
    expect(document.activeElement).toBe(node(el, "human_review"));
    expect(model.asked.map((command) => command.type)).not.toContain("remove_breakpoint");
  });
});

describe("sub-graphs", () => {
  const waits = (more: object) => ({ waiting: [{ ...(paused().debug.waiting[0] as WireWaiting), ...more }] });

  it("are entered and left by a key, at the node and in the list of what waits", async () => {
    const { el, model } = await open(paused());
    model.show(waits({ enters: true }));
    await settle();
    press(view(el), "i");
    expect(last(model)).toEqual({ type: "step_into", task: null });
    click(node(el, "human_review"));
    press(view(el), "i");
    expect(last(model)).toEqual({ type: "step_into", task: "w human_review" });
    press(view(el), "3");
    const button = (words: string) => all(el, ".p-wait button").find((one) => one.textContent === words) as HTMLElement;
    click(button("Step into"));
    expect(last(model)).toEqual({ type: "step_into", task: "w human_review" });
    model.show(waits({ begun: true }));
    await settle();
    expect(button("Step into")).toBeUndefined();
    expect(one(el, ".p-wait li").textContent).toContain("begun, goes on inside");
    click(button("Step out"));
    expect(last(model)).toEqual({ type: "step_out", task: "w human_review" });
    node(el, "human_review").dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true }));
    const item = all(el, '[role="menuitem"]')[0] as HTMLElement;
    expect(item.textContent).toBe("Step out⇧I");
    click(item);
    expect(last(model)).toMatchObject({ type: "step_out" });
  });

  it("don't cover the ring of what is shown inside of them", async () => {
    const { el } = await open(past());
    const layers = [...one(el, ".picture").children];
    const ring = layers.findIndex((layer) => layer.querySelector(".shown") !== null);
    expect(layers[ring]?.classList).toContain("marks");
    expect(layers.findIndex((layer) => layer.querySelector(".box") !== null)).toBeGreaterThan(ring);
    expect(layers[ring - 1]?.tagName).toBe("g"); // the frames
  });

  it("stand still while the session does, though they have begun", async () => {
    const { el } = await open({ ...paused(), snapshot: running().snapshot });
    expect(one(el, ".job.live.paused").textContent).toBe("human_review");
    expect(view(el).classList).toContain("hasty"); // nothing turns
  });

  it("say why they can't be entered", async () => {
    const { el, model } = await open(paused());
    model.show({ allowed: { ...model.debug.allowed, step_into: "Step into: no sub-graph waits" } });
    await settle();
    const before = model.asked.length;
    press(view(el), "i");
    await settle();
    expect(model.asked.length).toBe(before);
    await vi.advanceTimersByTimeAsync(500);
    expect(one(el, '[aria-live="polite"]').textContent).toContain("Step into: no sub-graph waits.");
  });
});

describe("keys", () => {
  it("work only inside the view and don't reach the notebook when they mean something", async () => {
    const { el, model } = await open(paused());
    const heard = vi.fn();
    document.body.addEventListener("keydown", heard);
    press(document.body, "s");
    expect(asked(model, "step_wave")).toEqual([]);
    press(view(el), "s");
    press(view(el), "q");
    expect(asked(model, "step_wave")).toHaveLength(1);
    expect(heard.mock.calls.map(([event]) => event.key)).toEqual(["s", "q"]);
    document.body.removeEventListener("keydown", heard);
  });

  it("are listed on the sheet", async () => {
    const { el } = await open(paused());
    press(view(el), "?");
    expect(one(el, ".help").hidden).toBe(false);
    press(one(el, ".help button"), "Escape");
    expect(one(el, ".help").hidden).toBe(true);
  });
});

describe("several views and their end", () => {
  it("agree", async () => {
    const { els, model } = await open(paused(), 2);
    press(view(els[0] as HTMLElement), "[");
    await settle();
    for (const el of els) expect(one(el, ".now").textContent).toContain("step 12 of 13");
    expect(asked(model, "step_back")).toHaveLength(1);
  });

  it("leave no listener, no timer and no element behind", async () => {
    const { el, model, end } = await open(running(), 2);
    model.show({ step: 7 });
    press(view(el), "?");
    end();
    expect(model.listenerCount).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(el.childElementCount).toBe(0);
  });

  it("speak of a stop once, and break in for it", async () => {
    const { el, model } = await open(running());
    model.emit("msg:custom", {
      type: "events",
      first_seq: model.snapshot.seq + 1,
      last_seq: model.snapshot.seq + 1,
      events: [{ type: "run_paused", at_s: 9, reason: "breakpoint", waiting: ["critic"] }],
    });
    model.show({ status: "paused", step: 7, stopped_at: ["critic"], reason: "breakpoint" });
    await vi.advanceTimersByTimeAsync(500);
    expect(one(el, '[aria-live="assertive"]').textContent).toBe("Stopped before critic, breakpoint.");
    expect(one(el, '[aria-live="polite"]').textContent).not.toContain("Stopped");
  });
});
