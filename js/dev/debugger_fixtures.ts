/** Sessions to look at without a kernel: the support graph, stopped, in the past, failed, long, idle. */

import { emptySnapshot } from "../src/core/blank.ts";
import { allForbidden, NO_DEBUG } from "../src/core/debug_blank.ts";
import { reduceAll } from "../src/core/reduce.ts";
import type { Preview, Snapshot, WireEvent, WireGraph, WireLayout } from "../src/protocol/generated.ts";
import type {
  CommandName,
  DebugState,
  WireBranch,
  WireBreakpoint,
  WireKey,
  WireMessage,
  WireQuestion,
  WireStep,
  WireWaiting,
} from "../src/protocol/generated_debugging.ts";
import compact from "./support_compact.json";

/** JSON carries no literal types. */
const SUPPORT = compact as unknown as { readonly graph: WireGraph; readonly layout: WireLayout };
export const BLANK: Snapshot = emptySnapshot(SUPPORT.graph, SUPPORT.layout);

type Told = readonly [node: string, wave: number, duration: number, wrote: readonly string[]];

const MAIN: readonly Told[] = [
  ["router", 1, 0.2, ["topic"]],
  ["plan", 2, 1.1, ["plan"]],
  ["search_docs", 3, 0.8, ["findings"]],
  ["read_code", 3, 3.1, ["findings"]],
  ["search_web", 3, 2.3, ["findings"]],
  ["merge", 4, 0.012, ["findings"]],
  ["draft", 5, 4.2, ["draft", "messages"]],
  ["tools", 6, 0.9, ["messages"]],
  ["draft", 7, 3.8, ["draft", "messages", "tokens"]],
  ["critic", 8, 1.3, []],
  ["draft", 9, 3.1, ["draft", "messages"]],
  ["critic", 10, 1.2, []],
  ["run_tests", 11, 5.2, ["score"]],
];

function steps(told: readonly Told[], branch: number, first: number): WireStep[] {
  const visits = new Map<string, number>();
  let clock = 0;
  return told.map(([node, wave, duration_s, wrote], i) => {
    const visit = (visits.get(node) ?? 0) + 1;
    visits.set(node, visit);
    const lane = told.slice(0, i).filter((one) => one[1] === wave).length;
    const at_s = clock;
    clock += duration_s;
    const rest = { branch, wave, lane, status: "done" as const, effect: node === "tools" };
    const tools = node === "tools" ? ["find", "read", "read"] : [];
    const heavy = { wrote: [...wrote], tools, tokens: node === "draft" ? 876 : null, inside: 0 };
    return { number: first + i, task: `t${first + i}`, node, visit, at_s, duration_s, ...rest, ...heavy };
  });
}

/** The picture after these steps, by the rules of a live run. */
export function pictureAfter(shown: readonly WireStep[], blank: Snapshot = BLANK): Snapshot {
  const events: WireEvent[] = [{ type: "run_started", at_s: 0, run_id: "r", started_at: 1 }];
  shown.forEach((step, i) => {
    const { node, visit, at_s, duration_s, wrote } = step;
    const end = at_s + duration_s;
    events.push({ type: "node_started", at_s, node, visit });
    step.tools.forEach((tool, at) => {
      const status = at === 2 ? "failed" : "done";
      const call = { id: `${at}`, tool, status, started_s: null, duration_s: 0.3 } as const;
      events.push({ type: "tool_call", at_s: end, node, call, text: `${tool} {"order": 7}\n` });
    });
    const { tokens } = step;
    if (tokens !== null)
      events.push({ type: "usage", at_s: end, node, tokens_in: tokens - 64, tokens_out: 64, seconds: 1.3 });
    if (step.status === "failed") events.push({ type: "node_failed", at_s: end, node, duration_s, what: "KeyError" });
    else events.push({ type: "node_finished", at_s: end, node, duration_s, wrote });
    const next = shown[i + 1]?.wave ?? -1;
    const followers = new Set(shown.filter((one) => one.wave === next).map((one) => one.node));
    for (const edge of blank.graph.edges) {
      if (edge.source !== node || (i + 1 < shown.length && !followers.has(edge.target))) continue;
      if (i + 1 < shown.length) events.push({ type: "edge_taken", at_s: end, edge: edge.id, keys: [], count: 1 });
    }
  });
  events.unshift(...events.splice(0, 1), { type: "edge_taken", at_s: 0, edge: "start>router", keys: [], count: 1 });
  const folded = reduceAll(blank, events);
  return { ...folded, run: { ...folded.run, status: "paused" } };
}

export function preview(text: string, kind = "str"): Preview {
  return { kind, text: text.slice(0, 80), cut: text.length > 80 };
}

function key(name: string, strategy: string, type: string, value: Preview, more: Partial<WireKey> = {}): WireKey {
  const rest = { size: "", opens: false, change: "" as const, before: null, edited: false };
  return { key: name, strategy, type, value, ...rest, ...more };
}

export const DRAFT = {
  before: "VAT is charged twice because of a rounding step. Let me check the file that adds the lines up.",
  now: "VAT is added once per line and once more on the total (billing/tax.py, line 41). Let me check the file.",
} as const;

export const STATE: readonly WireKey[] = [
  key(
    "messages",
    "append",
    "list[StateBaseMessage]",
    preview("[SystemMessage('Answer from the ledger. Cite files.'), …]", "list"),
    {
      size: "7 messages",
      opens: true,
      change: "changed",
      before: preview("[…]", "list"),
    },
  ),
  key("draft", "overwrite", "str", preview(DRAFT.now), {
    size: "str, 104 chars",
    change: "changed",
    before: preview(DRAFT.before),
  }),
  key("tokens", "add", "int", preview("1611", "int"), { change: "changed", before: preview("1204", "int") }),
  key("max_revisions", "overwrite", "int", preview("2", "int")),
  key("findings", "extend", "list[str]", preview("['tax.py adds VAT per line', …]", "list"), {
    size: "3 items",
    opens: true,
  }),
  key("plan", "overwrite", "dict", preview("{'searches': 3, …}", "dict"), { size: "3 keys", opens: true }),
  key("topic", "overwrite", "str", preview("'billing'"), { edited: true }),
  key("score", "overwrite", "float | None", preview("None", "NoneType")),
  key("<img src=x onerror=alert(1)>", "overwrite", "str", preview("'<script>alert(1)</script>'")),
];

const MESSAGES: readonly WireMessage[] = [
  { role: "system", node: "", step: null, text: "Answer from the ledger. Cite files.", calls: [], new: false },
  { role: "user", node: "", step: null, text: "Why does invoice 1182 charge VAT twice?", calls: [], new: false },
  {
    role: "assistant",
    node: "draft",
    step: 7,
    text: "VAT is charged twice because of a rounding step. Let me check.",
    calls: ['read_file(path="billing/tax.py")'],
    new: false,
  },
  { role: "tool", node: "tools", step: 8, text: "41  total = sum(line_total(x)) * 1.19", calls: [], new: false },
  {
    role: "assistant",
    node: "draft",
    step: 9,
    text: "VAT is added once per line and once more on the total (billing/tax.py, line 41).",
    calls: [],
    new: true,
  },
];

function breakpoint(id: string, node: string | null, more: Partial<WireBreakpoint>): WireBreakpoint {
  const rest = {
    kind: "node",
    edge: null,
    when: "before",
    condition: "",
    hit: null,
    log: "",
    enabled: true,
    hits: 0,
  } as const;
  return { id, node, text: `${node ?? "any exception"} before`, ...rest, ...more };
}

const BREAKPOINTS: readonly WireBreakpoint[] = [
  breakpoint("1", "human_review", { hits: 1 }),
  breakpoint("2", "run_tests", { condition: 'state["score"] < 0.7' }),
  breakpoint("3", null, { kind: "exception", enabled: false }),
  breakpoint("4", "tools", { log: 'state["tokens"]', hits: 2 }),
];

function waiting(node: string, more: Partial<WireWaiting> = {}): WireWaiting {
  const rest = {
    visit: 1,
    can_run: true,
    held: false,
    arrived: [],
    missing: [],
    reads: ["draft", "messages", "tokens"],
    begun: false,
    enters: false,
  };
  return { task: `w ${node}`, node, ...rest, ...more };
}

const ALLOWED: DebugState["allowed"] = { ...allForbidden(""), pause: "Pause: nothing runs" };
const SCHEMA = {
  type: "object",
  properties: {
    messages: { type: "array", items: {}, description: "list of messages" },
    topic: { enum: ["billing", "tech"], description: "billing or tech", default: "billing" },
    max_revisions: { type: "integer", minimum: 0, default: 2, description: "int, 0 or more" },
    strict: { type: "boolean", description: "bool" },
    plan: { type: "object", description: "dict" },
  },
  required: ["messages"],
};

const REFUND = {
  title: "Refund",
  type: "object",
  properties: {
    amount: { type: "integer", minimum: 1, title: "Amount" },
    reason: { type: "string", default: "", title: "Reason" },
    speed: { enum: ["now", "tonight"], default: "tonight" },
    notify: { type: "boolean", default: true },
  },
  required: ["amount"],
};

export const QUESTIONS: readonly WireQuestion[] = [
  {
    id: "q1",
    node: "human_review",
    text: "Refund 40 € to the customer of invoice 1182?",
    schema: REFUND,
    default: { amount: 40, reason: "VAT was added twice" },
  },
  { id: "q2", node: "human_review", text: "Write to the customer too?", schema: { type: "boolean" }, default: true },
];

const main = steps(MAIN, 0, 1);
const b1: WireStep[] = [
  ...steps([["draft", 5, 2.9, ["draft"]]], 1, 14).map((step) => ({ ...step, status: "edited" as const })),
  ...steps([["critic", 6, 1.3, []]], 1, 15),
  ...steps([["run_tests", 7, 5.2, []]], 1, 16).map((step) => ({ ...step, status: "failed" as const })),
];
const BRANCHES: readonly WireBranch[] = [
  { id: 0, name: "main", parent: null, from_step: null, steps: 13, note: "" },
  { id: 1, name: "b1", parent: 0, from_step: 6, steps: 3, note: "edited" },
];

const BASE: DebugState = {
  ...NO_DEBUG,
  seq: 1,
  status: "paused",
  reason: "breakpoint",
  step: 13,
  steps: [...main, ...b1],
  branches: BRANCHES,
  would_run: ["human_review"],
  stopped_at: ["human_review"],
  waiting: [waiting("human_review", { held: true })],
  breakpoints: BREAKPOINTS,
  allowed: { ...ALLOWED, step_forward: "Step forward: this is the newest step", live: "Live: this is live" },
  state: STATE,
  messages: MESSAGES,
  log: [
    { step: 2, node: "plan", level: "out", text: "3 searches" },
    { step: 5, node: "search_web", level: "out", text: "GET 200, 14 hits" },
    { step: 4, node: "read_code", level: "out", text: "opened billing/tax.py" },
    { step: 8, node: "tools", level: "warning", text: "cache is 2 days old" },
    { step: 8, node: "tools", level: "log", text: 'state["tokens"] = 1204' },
    { step: 9, node: "draft", level: "out", text: "407 tokens in 3.8 s" },
  ],
  watches: [
    { text: 'len(state["messages"])', value: preview("7", "int"), error: "" },
    { text: 'state["scor"]', value: null, error: "no key 'scor'; did you mean 'score'?" },
  ],
  input_schema: SCHEMA,
};

export interface Fixture {
  readonly snapshot: Snapshot;
  readonly debug: DebugState;
  readonly picture: Snapshot | null;
}

export function allowed(refused: Partial<Record<CommandName, string>>): DebugState["allowed"] {
  return { ...ALLOWED, ...refused };
}

export function paused(): Fixture {
  return { snapshot: pictureAfter(main), debug: BASE, picture: null };
}

/** The state as the debugger would show it at an earlier step of the main line. */
export function at(number: number, seq: number): { debug: DebugState; picture: Snapshot } {
  const past = main.filter((step) => step.number <= number);
  const next = main.find((step) => step.number > number);
  const would = main.filter((step) => step.wave === next?.wave).map((step) => step.node);
  const gone = {
    looking: number,
    next_branch: "b2",
    would_run: would,
    stopped_at: would,
    waiting: would.map((node) => waiting(node)),
  };
  return { debug: { ...BASE, seq, ...gone, allowed: ALLOWED }, picture: pictureAfter(past) };
}

export function past(): Fixture {
  return { snapshot: pictureAfter(main), ...at(9, 2) };
}

export function joining(): Fixture {
  const { debug, picture } = at(4, 2);
  const join = waiting("merge", {
    can_run: false,
    arrived: ["search_docs", "read_code"],
    missing: ["search_web"],
    reads: [],
  });
  const live = { looking: null, next_branch: "", stopped_at: ["search_web"], waiting: [waiting("search_web"), join] };
  return {
    snapshot: picture,
    debug: { ...debug, ...live, step: 4, steps: main.slice(0, 4), branches: BRANCHES.slice(0, 1), reason: "step" },
    picture: null,
  };
}

export function running(): Fixture {
  const shown = main.slice(0, 6);
  const events: WireEvent[] = [
    { type: "edge_taken", at_s: 7.6, edge: "merge>draft", keys: [], count: 1 },
    { type: "node_started", at_s: 7.6, node: "draft", visit: 1 },
    { type: "chunk", at_s: 8, node: "draft", text: "VAT is charged twice because of a rounding step in the", count: 9 },
  ];
  const picture = pictureAfter(shown);
  const snapshot = reduceAll({ ...picture, run: { ...picture.run, status: "running" } }, events);
  const no = "a node is running";
  const refused = { resume: `Resume: ${no}`, step_one: `Step one: ${no}`, step_wave: `Step wave: ${no}`, pause: "" };
  const debug: DebugState = {
    ...BASE,
    status: "running",
    reason: "",
    step: 6,
    steps: shown,
    branches: BRANCHES.slice(0, 1),
    stopped_at: [],
    would_run: [],
    waiting: [],
    allowed: allowed(refused),
  };
  return { snapshot, debug, picture: null };
}

/** A tool is at work, another one has failed, and the engine has warned of a node. */
export function calling(): Fixture {
  const picture = pictureAfter(main.slice(0, 7));
  const call = { id: "a", tool: "search_orders", status: "running", started_s: 11.8, duration_s: null } as const;
  const text = "Node 'plan' wrote the key 'plam', which the state hasn't";
  const events: WireEvent[] = [
    { type: "node_noted", at_s: 11.7, node: "plan", text },
    { type: "node_started", at_s: 11.7, node: "tools", visit: 1 },
    {
      type: "tool_call",
      at_s: 11.8,
      node: "tools",
      call: { ...call, id: "b", tool: "refund", status: "failed", started_s: null, duration_s: 0.1 },
      text: "refund ✗ no such order\n",
    },
    { type: "tool_call", at_s: 12.2, node: "tools", call, text: "search_orders {}\n" },
  ];
  const snapshot = reduceAll({ ...picture, run: { ...picture.run, status: "running" } }, events);
  return { snapshot, debug: { ...running().debug, step: 7, steps: main.slice(0, 7) }, picture: null };
}

/** A node waits for a person, twice: a form of a model, and a plain question. */
export function asking(questions: readonly WireQuestion[] = QUESTIONS): Fixture {
  const picture = pictureAfter(main);
  const events: WireEvent[] = [
    { type: "edge_taken", at_s: 30, edge: "run_tests>human_review", keys: [], count: 1 },
    { type: "node_started", at_s: 30, node: "human_review", visit: 1 },
    { type: "question", at_s: 30, node: "human_review", question: questions[0]?.text ?? "Well?", text: "?" },
  ];
  const snapshot = reduceAll({ ...picture, run: { ...picture.run, status: "running" } }, events);
  return { snapshot, debug: { ...running().debug, step: 13, steps: main, questions }, picture: null };
}

export function failed(): Fixture {
  const shown: WireStep[] = main.map((step) => (step.node === "run_tests" ? { ...step, status: "failed" } : step));
  const picture = pictureAfter(shown);
  const error = {
    kind: "KeyError",
    what: "KeyError: 'socre'",
    where: "cell [3], line 24, in node run_tests of graph support, 1st visit",
    fix: "did you mean 'score'? The state has: draft, findings, messages, score, topic",
    source: [
      { number: 23, text: "def run_tests(state):", hit: false },
      { number: 24, text: '    if state["socre"] < 0.7:', hit: true },
    ],
    traceback: "Traceback (most recent call last):\n  File \"<cell 3>\", line 24, in run_tests\nKeyError: 'socre'",
  };
  const snapshot: Snapshot = { ...picture, run: { ...picture.run, status: "failed", failed_node: "run_tests", error } };
  const debug: DebugState = {
    ...BASE,
    status: "failed",
    steps: shown,
    stopped_at: [],
    would_run: ["run_tests"],
    waiting: [waiting("run_tests")],
    branches: BRANCHES.slice(0, 1),
    reason: "KeyError: 'socre'",
  };
  return { snapshot, debug, picture: null };
}

export function idle(): Fixture {
  const no = "no run has begun";
  const refused = Object.fromEntries(
    (
      [
        "resume",
        "step_one",
        "step_wave",
        "step_back",
        "step_forward",
        "run_to",
        "stop",
        "goto",
        "live",
        "edit",
      ] as const
    ).map((name) => [name, `${name}: ${no}`]),
  );
  const debug: DebugState = {
    ...NO_DEBUG,
    seq: 1,
    breakpoints: BREAKPOINTS.slice(0, 1),
    allowed: allowed({ ...refused, why: `Why: ${no}` }),
    input_schema: SCHEMA,
  };
  return { snapshot: BLANK, debug, picture: null };
}

/** Twenty rounds of draft and critic. */
export function looping(): Fixture {
  const rounds = Array.from({ length: 20 }, (_, i): Told[] => [
    ["draft", 5 + 2 * i, 2.1, ["draft"]],
    ["critic", 6 + 2 * i, 0.7, []],
  ]).flat();
  const all = steps([...MAIN.slice(0, 6), ...rounds, ["run_tests", 46, 5.2, ["score"]]], 0, 1);
  const debug: DebugState = { ...BASE, steps: all, step: all.length, branches: BRANCHES.slice(0, 1) };
  return { snapshot: pictureAfter(all), debug, picture: null };
}

/** Four hundred steps, some of them bad, eight lanes wide in one place. */
export function long(): Fixture {
  const told = Array.from({ length: 400 }, (_, i): Told => {
    const node = ["plan", "draft", "tools", "critic", "run_tests"][(i * 7) % 5] ?? "plan";
    return [node, i >= 380 && i < 388 ? 380 : i, ((i * 37) % 90) / 10, []];
  });
  const all = steps(told, 0, 113).map((step, i) => (i % 97 === 40 ? { ...step, status: "failed" as const } : step));
  const debug: DebugState = {
    ...BASE,
    steps: all,
    steps_before: 112,
    step: 512,
    looking: 495,
    next_branch: "b1",
    branches: BRANCHES.slice(0, 1),
  };
  return { snapshot: pictureAfter(all.slice(0, 30)), debug, picture: pictureAfter(all.slice(0, 30)) };
}
