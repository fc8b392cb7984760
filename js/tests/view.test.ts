import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeModel } from "../dev/fake_model.ts";
import type { Model } from "../src/bridge/channel.ts";
import { Session } from "../src/bridge/session.ts";
import { lastNode } from "../src/core/follow.ts";
import { textRows } from "../src/panels/values.ts";
import type { EventsMessage, Snapshot, WireEvent } from "../src/protocol/generated.ts";
import widget from "../src/widgets/graph.ts";
import { loadStream } from "./streams.ts";

type Hosted = { el: HTMLElement; model: FakeModel; end: () => void };
let lives: AbortController[] = [];

/** What anywidget does: load the module, initialize the model, render views of it. */
function open(snapshot: Snapshot, views = 1): Hosted & { els: HTMLElement[] } {
  const model = new FakeModel(snapshot);
  const life = new AbortController();
  lives.push(life);
  const definition = widget();
  // The real props hold more than the view uses.
  const props = { model: model as Model, signal: life.signal } as unknown as Parameters<
    typeof definition.initialize
  >[0];
  definition.initialize(props);
  const els = Array.from({ length: views }, () => document.body.appendChild(document.createElement("div")));
  for (const el of els) definition.render({ ...props, el } as unknown as Parameters<typeof definition.render>[0]);
  return { el: els[0] as HTMLElement, els, model, end: () => life.abort() };
}

function send(model: FakeModel, ...events: WireEvent[]): void {
  const first_seq = model.snapshot.seq + 1;
  const message: EventsMessage = { type: "events", first_seq, last_seq: first_seq + events.length - 1, events };
  model.publish(message);
  vi.advanceTimersByTime(20); // one frame
}

const IDLE = loadStream("support_idle").start;
const STARTED: WireEvent = { type: "run_started", at_s: 0, run_id: "r", started_at: 1 };
const node = (el: HTMLElement, id: string) => el.querySelector(`[data-node="${id}"]`) as SVGGElement;
const edge = (el: HTMLElement, id: string) => el.querySelector(`[data-edge="${id}"]`) as SVGGElement;
const press = (target: Element, key: string) =>
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const start = (id: string, visit = 1): WireEvent => ({ type: "node_started", at_s: 1, node: id, visit });
const end = (id: string): WireEvent => ({ type: "node_finished", at_s: 3.1, node: id, duration_s: 2.1, wrote: ["x"] });

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

describe("a node that asks a person", () => {
  const ask = (question: string): WireEvent => ({ type: "question", at_s: 2, node: "merge", question, text: "?" });

  it("waits: no clock, no turning, its question beside it and in the header", () => {
    const { el, model } = open(IDLE);
    send(model, STARTED, start("merge"), ask("Refund?"));
    expect([...node(el, "merge").classList]).toEqual(["node", "waiting"]);
    expect(node(el, "merge").querySelector(".progress")).toBeNull();
    expect(node(el, "merge").querySelector(".time")?.textContent).toBe("asks you");
    expect(node(el, "merge").getAttribute("aria-label")).toBe("merge, asks you: Refund?");
    expect(el.querySelector(".callout")?.textContent).toBe("mergeasks youRefund?");
    expect(el.querySelector(".callout")?.classList).toContain("waiting");
    expect(el.querySelectorAll(".notes .waiting")).toHaveLength(0);
    expect(el.querySelector(".head .chip")?.textContent).toBe("Waits for you");
    expect(el.querySelector(".facts")?.textContent).toBe(
      "merge asks: Refund? · answer with %evo answer VALUE or handle.answer(VALUE)",
    );
  });

  it("runs again once it has its answer", () => {
    const { el, model } = open(IDLE);
    send(model, STARTED, start("merge"), ask("Refund?"), ask(""));
    expect(node(el, "merge").classList).toContain("running");
    expect(el.querySelector(".callout")?.classList).toContain("running");
    expect(el.querySelector(".head .chip")?.textContent).toBe("Running");
  });
});

describe("the picture", () => {
  it("shows every node and edge with its name and label", () => {
    const { el } = open(IDLE);
    expect(el.querySelectorAll("[data-node]")).toHaveLength(14);
    expect(el.querySelectorAll("[data-edge]")).toHaveLength(22);
    expect(node(el, "plan").querySelector(".name")?.textContent).toBe("plan");
    expect([...el.querySelectorAll(".label")].map((label) => label.textContent)).toContain("tool call");
  });

  it("follows a node through its life", () => {
    const { el, model } = open(IDLE);
    expect(node(el, "plan").classList).toContain("idle");
    send(model, STARTED, { type: "node_queued", at_s: 0, node: "plan" });
    expect(node(el, "plan").classList).toContain("queued");
    send(model, start("plan"));
    expect(node(el, "plan").classList).toContain("running");
    send(model, end("plan"));
    expect(node(el, "plan").classList).toContain("done");
    expect(node(el, "plan").querySelector(".time")?.textContent).toBe("2.1\u00a0s");
    expect(node(el, "plan").getAttribute("aria-label")).toBe("plan, done, 2.1 s");
  });

  it("counts visits on the border", () => {
    const { el, model } = open(IDLE);
    send(model, STARTED, start("plan"), end("plan"), start("plan", 2));
    expect(node(el, "plan").querySelector(".times text")?.textContent).toBe("×2");
  });

  it("says at a join who has arrived and who is missing", () => {
    const { el, model } = open(IDLE);
    const arrived = ["read_code", "search_docs"];
    send(model, STARTED, { type: "node_waiting", at_s: 1, node: "merge", arrived, missing: ["search_web"] });
    expect(node(el, "merge").querySelector(".time")?.textContent).toBe("2 / 3");
    expect(el.querySelector(".notes")?.textContent).toBe("2 of 3 arrivedwaits for search_web");
    send(model, { type: "join_satisfied", at_s: 2, node: "merge", arrived: [...arrived, "search_web"] });
    expect(el.querySelector(".notes")?.textContent).toBe("");
  });

  it("marks edges taken and not chosen", () => {
    const { el, model } = open(IDLE);
    send(
      model,
      STARTED,
      { type: "route_decided", at_s: 1, node: "router", chosen: ["plan"], passed_over: ["router>draft"] },
      { type: "edge_taken", at_s: 1, edge: "router>plan", keys: [], count: 1 },
    );
    expect(edge(el, "router>plan").classList).toContain("taken");
    expect(edge(el, "router>draft").classList).toContain("off");
    expect(edge(el, "draft>critic").classList).not.toContain("taken");
  });

  it("pulses along a taken edge and stops", () => {
    const { el, model } = open(IDLE);
    send(model, STARTED, { type: "edge_taken", at_s: 1, edge: "router>plan", keys: [], count: 1 });
    expect(edge(el, "router>plan").classList).toContain("pulse");
    vi.advanceTimersByTime(700);
    expect(edge(el, "router>plan").classList).not.toContain("pulse");
    expect(el.querySelector(".comet")).toBeNull();
  });

  it("pulses along at most twelve edges at a time", () => {
    const { el, model } = open(IDLE);
    send(
      model,
      STARTED,
      ...IDLE.graph.edges.map(({ id }): WireEvent => ({ type: "edge_taken", at_s: 1, edge: id, keys: [], count: 1 })),
    );
    expect(el.querySelectorAll(".edge.pulse")).toHaveLength(12);
  });

  it("merges crossings that get no comet into a number on their edge", () => {
    const { el, model } = open(IDLE);
    const cross = (id: string, count = 1): WireEvent => ({ type: "edge_taken", at_s: 1, edge: id, keys: [], count });
    const tallies = () => [...el.querySelectorAll(".edge .tag")].map((each) => each.textContent);
    send(model, STARTED, ...IDLE.graph.edges.slice(0, 12).map(({ id }) => cross(id)));
    expect(tallies()).toEqual([]);
    const late = IDLE.graph.edges[12]?.id as string;
    send(model, cross("router>plan", 3), cross(late, 2));
    send(model, cross("router>plan"));
    expect(edge(el, "router>plan").querySelector(".tag")?.textContent).toBe("+4");
    expect(edge(el, late).querySelector(".comet")).toBeNull();
    expect(edge(el, late).querySelector(".tag")?.textContent).toBe("+2");
    vi.advanceTimersByTime(700);
    expect(tallies()).toEqual([]);
  });

  it("leaves nodes alone that nothing happened to", async () => {
    const { el, model } = open(IDLE);
    send(model, STARTED);
    const element = node(el, "summarise");
    const changes = new MutationObserver(() => undefined);
    changes.observe(element, { attributes: true, childList: true, subtree: true, characterData: true });
    send(model, start("plan"), end("plan"));
    expect(changes.takeRecords()).toEqual([]);
    expect(node(el, "summarise")).toBe(element);
  });

  it("says in a tooltip what the pointer is on, and whole names that were cut", () => {
    const { el } = open(IDLE);
    const over = (part: Element) => part.dispatchEvent(new Event("pointerover", { bubbles: true }));
    expect(el.querySelector("title")).toBeNull();
    over(node(el, "plan"));
    expect(node(el, "plan").querySelector("title")?.textContent).toBe("plan, not run yet");
    over(edge(el, "draft>tools"));
    expect(edge(el, "draft>tools").querySelector("title")?.textContent).toBe("draft → tools, tool call");
    expect(el.querySelectorAll("title")).toHaveLength(1);
  });

  it("draws names as text, never as markup", () => {
    const { el } = open(loadStream("awkward").start);
    expect(el.querySelector("img, script")).toBeNull();
    const names = [...el.querySelectorAll(".name")].map((name) => name.textContent);
    expect(names).toContain("<img src=x onerror=alert(1)>");
    expect(el.querySelector(".graph-name")?.textContent).toBe("awkward </script>");
  });

  it("keeps its elements when the same graph arrives again, and drops them for another", () => {
    const { el, model } = open(IDLE);
    const element = node(el, "plan");
    const again = structuredClone({ ...IDLE, seq: IDLE.seq + 1 });
    model.emit("msg:custom", { type: "snapshot", snapshot: again });
    vi.advanceTimersByTime(20);
    expect(node(el, "plan")).toBe(element);
    model.emit("msg:custom", { type: "snapshot", snapshot: loadStream("awkward").start });
    vi.advanceTimersByTime(20);
    expect(node(el, "plan")).toBeNull();
    expect(el.querySelectorAll(".picture")).toHaveLength(1);
  });
});

describe("the header", () => {
  const chip = (el: HTMLElement) => el.querySelector(".chip")?.textContent;

  it("says how the run stands", () => {
    const { el, model } = open(IDLE);
    expect(chip(el)).toBe("Idle");
    send(model, STARTED, start("plan"));
    expect(chip(el)).toBe("Running");
    expect(el.querySelector(".facts")?.textContent).toContain("1 of 12 nodes at work");
    send(model, end("plan"), { type: "run_finished", at_s: 3.1, reason: "completed", message: "", result: null });
    expect(chip(el)).toBe("Done");
  });

  it("counts on between events, and only while something runs", () => {
    const { el, model } = open(IDLE);
    vi.advanceTimersByTime(5000);
    expect(vi.getTimerCount()).toBe(0);
    send(model, STARTED, start("plan"));
    const before = el.querySelector(".facts")?.textContent;
    vi.advanceTimersByTime(2000);
    expect(el.querySelector(".facts")?.textContent).not.toBe(before);
    send(model, end("plan"), { type: "run_finished", at_s: 3.1, reason: "completed", message: "", result: null });
    vi.advanceTimersByTime(5000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("calls a view that no kernel answers a saved view", async () => {
    const model = new FakeModel(IDLE);
    model.answers = false;
    const definition = widget();
    const life = new AbortController();
    lives.push(life);
    const el = document.body.appendChild(document.createElement("div"));
    const props = { model, el, signal: life.signal } as unknown as Parameters<typeof definition.render>[0];
    definition.initialize(props);
    definition.render(props);
    expect(chip(el)).toBe("Idle");
    await vi.advanceTimersByTimeAsync(5100);
    expect(chip(el)).toBe("Saved view");
  });
});

describe("the cards", () => {
  it("open with the kernel's answer on a click and close on Escape", async () => {
    const { el, model } = open(loadStream("support_running").end);
    await vi.advanceTimersByTimeAsync(20);
    node(el, "plan").dispatchEvent(new MouseEvent("click", { bubbles: true }));
    await vi.advanceTimersByTimeAsync(40);
    expect(model.sent.map((command) => command.type)).toContain("inspect_node");
    const card = el.querySelector(".card.details") as HTMLElement;
    expect(card.textContent).toContain("Last input");
    expect(card.textContent).toContain("def plan(state)");
    press(card, "Escape");
    vi.advanceTimersByTime(20);
    expect(el.querySelector(".card")).toBeNull();
    expect(document.activeElement).toBe(node(el, "plan"));
  });

  it("say what they can't know without a kernel", async () => {
    const { el, model } = open(loadStream("support_running").end);
    await vi.advanceTimersByTimeAsync(20);
    model.answers = false;
    press(node(el, "search_web"), "Enter");
    await vi.advanceTimersByTimeAsync(5100);
    const words = el.querySelector(".card.details")?.textContent;
    expect(words).toContain("The kernel didn't answer within 5 s");
    expect(words).toContain("the tax office asks for VAT");
  });

  it("show what broke, where and how to mend it, with the user's lines", () => {
    const { el } = open(loadStream("support_failed").end);
    const card = el.querySelector(".card.err") as HTMLElement;
    expect([...card.querySelectorAll("dt")].map((term) => term.textContent)).toEqual(["What", "Where", "Fix"]);
    expect(card.querySelector("h3")?.textContent).toBe("KeyError in run_tests");
    expect(card.querySelector(".line.hit u")?.textContent).toBe('if state["socre"] < 0.7:');
    expect(card.querySelector("details pre")?.textContent).toContain("KeyError: 'socre'");
  });

  it("show the final state of a finished run until it is closed", () => {
    const { el } = open(loadStream("support_done").end);
    const card = el.querySelector(".card.result") as HTMLElement;
    expect(card.querySelector(".values")?.textContent).toContain("score0.82");
    card.querySelector("button")?.click();
    vi.advanceTimersByTime(20);
    expect(el.querySelector(".card")).toBeNull();
    press(node(el, "end"), "Enter");
    vi.advanceTimersByTime(20);
    expect(el.querySelector(".card.result")).toBe(card);
  });

  it("keep what broke in sight: Escape leaves the view instead", () => {
    const { el } = open(loadStream("support_failed").end);
    node(el, "run_tests").focus();
    press(node(el, "run_tests"), "Escape");
    vi.advanceTimersByTime(20);
    expect(el.querySelector(".card.err")).not.toBeNull();
    expect(el.contains(document.activeElement)).toBe(false);
  });
});

describe("keys", () => {
  it("move the one tab stop along the edges", () => {
    const { el } = open(IDLE);
    const stops = () => [...el.querySelectorAll('[data-node][tabindex="0"]')].map((n) => n.getAttribute("data-node"));
    expect(stops()).toEqual(["start"]);
    node(el, "start").focus();
    press(node(el, "start"), "ArrowDown");
    expect(document.activeElement).toBe(node(el, "router"));
    expect(stops()).toEqual(["router"]);
  });

  it("that the view doesn't know reach the notebook", () => {
    const { el } = open(IDLE);
    const heard = vi.fn();
    document.body.addEventListener("keydown", heard, { once: true });
    expect(press(node(el, "plan"), "x")).toBe(true);
    expect(heard).toHaveBeenCalledOnce();
  });

  it("that it knows don't", () => {
    const { el } = open(IDLE);
    const heard = vi.fn();
    document.body.addEventListener("keydown", heard);
    expect(press(node(el, "plan"), "l")).toBe(false);
    expect((el.querySelector(".legend") as HTMLDetailsElement).open).toBe(true);
    expect(heard).not.toHaveBeenCalled();
    document.body.removeEventListener("keydown", heard);
  });
});

describe("several views and their end", () => {
  it("show the same, and ask the kernel once", () => {
    const { els, model } = open(IDLE, 2);
    send(model, STARTED, start("plan"));
    for (const el of els) expect(node(el, "plan").classList).toContain("running");
    expect(model.sent.filter((command) => command.type === "resync")).toHaveLength(1);
  });

  it("resync after a gap and go on", async () => {
    const { el, model } = open(IDLE);
    await vi.advanceTimersByTimeAsync(20);
    model.snapshot = { ...loadStream("support_running").end };
    const { seq } = model.snapshot;
    model.emit("msg:custom", { type: "events", first_seq: seq + 1, last_seq: seq + 1, events: [end("search_web")] });
    await vi.advanceTimersByTimeAsync(40);
    expect(node(el, "merge").classList).toContain("waiting");
    send(model, end("search_web"));
    expect(node(el, "search_web").classList).toContain("done");
  });

  it("leave no listener, no timer and no element behind", () => {
    const { el, model, end: close } = open(loadStream("support_running").end, 2);
    send(model, { type: "chunk", at_s: 99, node: "search_web", text: "x", count: 1 });
    close();
    expect(model.listenerCount).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    expect(el.childElementCount).toBe(0);
  });

  it("speak once for what happened in a moment, and break in for a failure", () => {
    const { el, model } = open(IDLE);
    send(model, STARTED, start("plan"));
    vi.advanceTimersByTime(500);
    expect(el.querySelector('[aria-live="polite"]')?.textContent).toBe("Run of support started. plan started.");
    const failed = loadStream("support_failed").messages.at(-1)?.events.at(-1) as WireEvent;
    send(model, failed);
    vi.advanceTimersByTime(500);
    expect(el.querySelector('[aria-live="assertive"]')?.textContent).toContain("run_tests failed: KeyError ");
  });
});

describe("a run that has stopped", () => {
  it("stands behind a gate before what could run next, and goes on from there", () => {
    const { el, model } = open(IDLE);
    const queued = { type: "node_queued", at_s: 1, node: "human_review" } as const;
    send(model, STARTED, queued, { type: "run_paused", at_s: 1, reason: "breakpoint", waiting: ["human_review"] });
    expect(node(el, "human_review").querySelector(".gate")).not.toBeNull();
    expect(node(el, "human_review").getAttribute("aria-label")).toBe("human_review, stopped before");
    expect(el.querySelector(".facts")?.textContent).toMatch(/^before human_review · breakpoint/);
    send(model, start("human_review"));
    expect(node(el, "human_review").querySelector(".gate")).toBeNull();
  });
});

describe("the end of a run", () => {
  it("leaves nothing running: what was cut off, queued or never reached says so", () => {
    const { el, model } = open(IDLE);
    send(
      model,
      STARTED,
      { type: "route_decided", at_s: 1, node: "router", chosen: ["plan"], passed_over: ["router>draft"] },
      { type: "edge_taken", at_s: 1, edge: "router>plan", keys: [], count: 1 },
      start("plan"),
      { type: "node_queued", at_s: 1, node: "merge" },
      { type: "run_finished", at_s: 1.5, reason: "stopped", message: "stopped by you", result: null },
    );
    for (const id of ["plan", "merge", "draft", "critic"]) expect(node(el, id).classList).toContain("skipped");
    expect(node(el, "plan").getAttribute("aria-label")).toBe("plan, stopped after 0.5 s");
    expect(node(el, "merge").getAttribute("aria-label")).toBe("merge, stopped before it ran");
    expect(node(el, "draft").getAttribute("aria-label")).toBe("draft, not chosen");
    expect(node(el, "critic").getAttribute("aria-label")).toBe("critic, not reached");
    expect(edge(el, "draft>critic").classList).toContain("off");
    expect(edge(el, "router>plan").classList).not.toContain("off");
    expect(el.querySelector(".node .turn, .progress, .caret")).toBeNull();
  });

  it("keeps what waits while a session can go on from its failure", () => {
    const { el, model } = open(IDLE);
    const { error } = loadStream("support_failed").end.run;
    send(
      model,
      STARTED,
      { type: "node_queued", at_s: 1, node: "merge" },
      { type: "run_failed", at_s: 1.5, node: "plan", error: error as NonNullable<typeof error>, resumable: true },
    );
    expect(node(el, "merge").classList).toContain("queued");
    expect(node(el, "critic").classList).toContain("idle");
  });
});

describe("what was found by check()", () => {
  const fault = {
    code: "dead",
    level: "warning",
    nodes: ["tools"],
    what: "tools never ends",
    where: "",
    fix: "an edge",
  };
  const checked = { ...IDLE, graph: { ...IDLE.graph, findings: [fault] } } as Snapshot;

  it("is marked on its node, said with it, and told in its details", () => {
    const { el } = open(checked);
    expect(el.querySelectorAll("svg.graph .finding")).toHaveLength(1);
    expect(node(el, "tools").querySelector(".finding.waiting")).not.toBeNull();
    expect(node(el, "tools").getAttribute("aria-label")).toBe("tools, not run yet; warning: tools never ends");
    node(el, "tools").dispatchEvent(new MouseEvent("click", { bubbles: true }));
    vi.advanceTimersByTime(40);
    expect(el.querySelector(".card.details")?.textContent).toContain("warning: tools never endsfix: an edge");
  });
});

describe("tools, tokens and warnings of a node", () => {
  const call = (status: "running" | "done" | "failed", id = "c", duration_s: number | null = null): WireEvent => {
    const started_s = status === "running" ? 1.5 : null;
    const told = { id, tool: "find", status, started_s, duration_s } as const;
    return { type: "tool_call", at_s: 1.9, node: "tools", call: told, text: "find {}\n" };
  };
  const noted = (text: string): WireEvent => ({ type: "node_noted", at_s: 2, node: "tools", text });
  const words = (el: HTMLElement) => el.querySelector(".card.details")?.textContent;

  it("name the tool at work in the node's callout, with a clock, and no note beside it", () => {
    const { el, model } = open(IDLE);
    send(model, STARTED, start("tools"), call("running"));
    const count = () => el.querySelector('[data-callout="tools"] header span')?.textContent ?? "";
    expect(count()).toMatch(/^find, 0\.[45]\u00a0s$/);
    vi.advanceTimersByTime(1000);
    expect(count()).toMatch(/^find, 1\.[45]\u00a0s$/);
    expect(el.querySelector(".notes")?.textContent).toBe("");
    send(model, call("done", "c", 0.4));
    expect(count()).toBe("2 chunks");
    expect(node(el, "tools").getAttribute("aria-label")).toContain("called find (0.4 s)");
  });

  it("mark a node that the engine warned of, once, and not one of the next run", () => {
    const { el, model } = open(IDLE);
    const signs = () => [...node(el, "tools").querySelectorAll(".finding")].map((sign) => sign.getAttribute("class"));
    expect(signs()).toEqual([]);
    send(model, STARTED, start("tools"), noted("a wrong key"), noted("another"));
    expect(signs()).toEqual(["finding waiting"]);
    expect(node(el, "tools").getAttribute("aria-label")).toContain("; warning: a wrong key; warning: another");
    send(model, { ...STARTED, run_id: "r2" });
    expect(signs()).toEqual([]);
  });

  it("stand in its details, also after its end, with what the kernel knows of them", async () => {
    const { el, model } = open(IDLE);
    const used: WireEvent = { type: "usage", at_s: 2, node: "tools", tokens_in: 812, tokens_out: 64, seconds: 1.3 };
    send(model, STARTED, start("tools"), call("done", "c", 0.4), call("failed", "d"), used, noted("a wrong key"));
    send(model, end("tools"));
    press(node(el, "tools"), "Enter");
    await vi.advanceTimersByTimeAsync(60);
    expect(words(el)).toContain("Warnings a wrong key");
    expect(words(el)).toContain('Tool callsfind0.4\u00a0s{"order": 7}find gave 40 €findfailed');
    expect(words(el)).toContain("Tokens812 in, 64 out, 1.3\u00a0s");
    expect(el.querySelector(".card li.failed .i")).not.toBeNull();
    const thoughts = el.querySelector<HTMLDetailsElement>(".card details");
    expect(thoughts?.open).toBe(false);
    expect(thoughts?.textContent).toContain("The order tells how much.");
    expect(words(el)).toContain("StreamedWhat was said before. find {}");
  });

  it("don't disturb what a reader has unfolded when the run goes on elsewhere", async () => {
    const { el, model } = open(IDLE);
    send(model, STARTED, start("tools"), call("done", "c", 0.4), end("tools"));
    press(node(el, "tools"), "Enter");
    await vi.advanceTimersByTimeAsync(60);
    const thoughts = el.querySelector<HTMLDetailsElement>(".card details");
    if (thoughts !== null) thoughts.open = true;
    send(model, start("draft"), noted("late"));
    expect(words(el)).toContain("Warnings late");
    expect(el.querySelector<HTMLDetailsElement>(".card details")).toBe(thoughts);
    expect(thoughts?.open).toBe(true);
  });

  it("aren't missed by a picture that was saved before there were any", () => {
    const nodes = Object.fromEntries(
      Object.entries(IDLE.nodes).map(([id, { tools: _, warnings: __, tokens_in: ___, ...old }]) => [id, old]),
    );
    const { el } = open({ ...IDLE, nodes: nodes as Snapshot["nodes"] });
    vi.advanceTimersByTime(20);
    press(node(el, "tools"), "Enter");
    vi.advanceTimersByTime(20);
    expect(node(el, "tools").getAttribute("aria-label")).toBe("tools, not run yet");
    expect(words(el)).not.toContain("Tokens");
  });
});

describe("awkward values", () => {
  it("are never nothing: empty text has quotes, a name of spaces can be seen, many visits stay short", async () => {
    const nodes = IDLE.graph.nodes.map((one) => (one.id === "plan" ? { ...one, name: " " } : one));
    const { el, model } = open({ ...IDLE, graph: { ...IDLE.graph, nodes } });
    expect(node(el, "plan").querySelector(".name")?.textContent).toBe("␣");
    send(model, STARTED, start("plan", 5000));
    expect(node(el, "plan").querySelector(".times")?.textContent).toBe("×5k");
    const row = textRows({ draft: "" });
    expect(row.querySelector("dd")?.textContent).toBe("''");
  });

  it("fold a message so long that it would push away where and how to mend it", () => {
    const { end: failed } = loadStream("support_failed");
    const error = { ...(failed.run.error as NonNullable<typeof failed.run.error>), what: "x".repeat(900) };
    const { el } = open({ ...failed, run: { ...failed.run, error } });
    const what = el.querySelector(".err dd") as HTMLElement;
    expect(what.querySelector("summary")?.textContent).toHaveLength(260);
    expect(what.querySelector("summary")?.textContent).toMatch(/…$/);
    expect(what.querySelector("pre")?.textContent).toBe(error.what);
  });
});

describe("a kernel that dies", () => {
  it("makes a saved view at once, though no comm was closed", () => {
    const model = new FakeModel(IDLE);
    let tell: ((kernel: unknown, status: unknown) => void) | null = null;
    const statusChanged = {
      connect: (watcher: typeof tell) => {
        tell = watcher;
      },
      disconnect: () => {
        tell = null;
      },
    };
    const hosted = Object.assign(model, { widget_manager: { kernel: { status: "idle", statusChanged } } });
    const life = new AbortController();
    lives.push(life);
    const session = new Session(hosted, life.signal);
    tell = tell as unknown as (kernel: unknown, status: unknown) => void;
    tell?.(null, "busy");
    expect(session.liveness).not.toBe("saved");
    tell?.(null, "autorestarting");
    expect(session.liveness).toBe("saved");
    life.abort();
    expect(tell).toBeNull();
  });
});

describe("where a finished run ended", () => {
  it("is its end if that was reached, else what started last", () => {
    expect(lastNode(loadStream("support_done").end)).toBe("end");
    expect(lastNode(loadStream("starved").end)).toBe("b");
    expect(lastNode(IDLE)).toBeNull();
  });
});
