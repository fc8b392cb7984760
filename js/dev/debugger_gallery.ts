/** Every state of the debugger without a kernel. `debugger.html#dark`, `#only=name` for one. */

import { DebugSession } from "../src/bridge/debug_session.ts";
import { DebuggerView } from "../src/widgets/debugger_view.ts";
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
  QUESTIONS,
  running,
} from "./debugger_fixtures.ts";
import { FakeDebugModel } from "./fake_debug_model.ts";

interface Exhibit {
  readonly title: string;
  readonly fixture: () => Fixture;
  /** What is done by hand once it stands. */
  readonly after?: (view: HTMLElement, model: FakeDebugModel) => void;
}

const press = (view: Element, key: string, shiftKey = false) =>
  view.dispatchEvent(new KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
const choose = (view: HTMLElement, id: string) =>
  view.querySelector(`[data-node="${id}"]`)?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
const edit = (view: HTMLElement) =>
  [...view.querySelectorAll<HTMLElement>(".tree .row")]
    .find((row) => row.textContent?.startsWith("max_revisions"))
    ?.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));

const EXHIBITS: Readonly<Record<string, Exhibit>> = {
  past: { title: "In the past, a value being edited", fixture: past, after: edit },
  paused: { title: "Stopped at a breakpoint", fixture: paused, after: (view) => choose(view, "run_tests") },
  running: { title: "Running", fixture: running },
  asking: { title: "A node asks", fixture: asking },
  asking_yes: {
    title: "A node asks yes or no",
    fixture: () => asking(QUESTIONS.slice(1)),
    after: (view) => press(view, "a"),
  },
  asking_text: {
    title: "A node asks for a text, and the answer was refused",
    fixture: () =>
      asking([
        { id: "q3", node: "human_review", text: "What do we write to the customer?", schema: { type: "string" } },
      ]),
    after: (view, model) => {
      model.refuse("The answer 'x' doesn't fit: answer: String should have at least 5 characters", "answer again");
      const field = view.querySelector<HTMLTextAreaElement>(".ask textarea");
      if (field) field.value = "x";
      field?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    },
  },
  calling: { title: "A tool at work", fixture: calling },
  calls: {
    title: "A node with calls opened",
    fixture: past,
    after: (view) => press(view.querySelector('[data-node="tools"]') ?? view, "Enter"),
  },
  failed: { title: "Failed", fixture: failed },
  idle: { title: "Nothing has run", fixture: idle },
  messages: { title: "Messages", fixture: past, after: (view) => press(view, "2") },
  waiting: { title: "Waiting at a join", fixture: joining, after: (view) => press(view, "3") },
  breakpoints: { title: "Breakpoints", fixture: paused, after: (view) => press(view, "4") },
  condition: {
    title: "A breakpoint with a condition",
    fixture: paused,
    after: (view) => {
      choose(view, "critic");
      press(view, "B", true);
    },
  },
  why: { title: "Why", fixture: past, after: (view) => press(view, "5") },
  log: { title: "Log", fixture: past, after: (view) => press(view, "6") },
  skip: {
    title: "Skip with a delta",
    fixture: failed,
    after: (view) => [...view.querySelectorAll<HTMLElement>(".ways button")].at(-1)?.click(),
  },
  node: {
    title: "A node opened",
    fixture: paused,
    after: (view) => press(view.querySelector('[data-node="plan"]') ?? view, "Enter"),
  },
  loop: { title: "Twenty rounds", fixture: looping },
  long: { title: "Four hundred steps", fixture: long },
  help: { title: "Keys", fixture: paused, after: (view) => press(view, "?") },
  refused: {
    title: "A command refused",
    fixture: paused,
    after: (view, model) => {
      model.refuse(
        "tools has touched the world already and would do so again",
        "press it once more to let it act again, or skip it with a delta",
      );
      press(view, "s");
    },
  },
  saved: {
    title: "No kernel",
    fixture: past,
    after: (_view, model) => {
      model.answers = false;
      model.emit("comm:close", null);
    },
  },
};

function exhibit(name: string, { title, fixture, after }: Exhibit): void {
  const heading = document.createElement("h2");
  heading.textContent = title;
  const place = document.createElement("div");
  place.id = name;
  document.body.append(heading, place);
  const { signal } = new AbortController();
  const model = new FakeDebugModel(fixture());
  const view = new DebuggerView(new DebugSession(model, signal), signal);
  place.append(view.element);
  view.start();
  if (after) setTimeout(() => after(view.element, model), 150);
}

const flags = location.hash;
if (flags.includes("dark")) document.documentElement.classList.add("dark");
const only = /only=(\w+)/.exec(flags)?.[1];
for (const [name, shown] of Object.entries(EXHIBITS)) if (only === undefined || only === name) exhibit(name, shown);

/** For scripts that hold real sessions: shows one that Python wrote down. */
Object.assign(window, {
  showSession: (fixture: Fixture) => exhibit("session", { title: "A session", fixture: () => fixture }),
});
