/** Every state of the view without a kernel. `gallery.html#dark`, `#play` (replays in time), `#only=name` for one. */

import agent from "../../tests/golden/streams/agent.json";
import awkward from "../../tests/golden/streams/awkward.json";
import nested from "../../tests/golden/streams/nested.json";
import starved from "../../tests/golden/streams/starved.json";
import done from "../../tests/golden/streams/support_done.json";
import failed from "../../tests/golden/streams/support_failed.json";
import idle from "../../tests/golden/streams/support_idle.json";
import running from "../../tests/golden/streams/support_running.json";
import { Session } from "../src/bridge/session.ts";
import { GraphView } from "../src/widgets/graph_view.ts";
import { bigGraph } from "./big_graph.ts";
import { FakeModel, type Stream } from "./fake_model.ts";

interface Exhibit {
  readonly title: string;
  readonly model: () => FakeModel;
  /** What is done by hand once it stands. */
  readonly after?: (view: HTMLElement) => void;
}

const flags = location.hash;
const press = (view: HTMLElement, key: string) =>
  view.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const openNode = (view: HTMLElement, id: string) =>
  view.querySelector(`[data-node="${id}"]`)?.dispatchEvent(new MouseEvent("click", { bubbles: true }));

const EXHIBITS: Readonly<Record<string, Exhibit>> = {
  running: {
    title: "Running: one streams, a join waits",
    model: () => replayed(running),
    after: (view) => press(view, "l"),
  },
  failed: { title: "Failed", model: () => replayed(failed) },
  done: { title: "Done", model: () => replayed(done) },
  idle: { title: "Idle", model: () => replayed(idle) },
  details: { title: "A node opened", model: () => replayed(running), after: (view) => openNode(view, "search_web") },
  agent: { title: "Tools at work", model: () => replayed(agent) },
  calls: { title: "A node with calls opened", model: () => replayed(agent), after: (view) => openNode(view, "agent") },
  starved: { title: "A join that can't fire", model: () => replayed(starved) },
  nested: { title: "A sub-graph", model: () => replayed(nested) },
  awkward: { title: "Awkward names", model: () => replayed(awkward) },
  saved: { title: "No kernel", model: () => silent(running) },
  big: { title: "A thousand nodes", model: () => new FakeModel(bigGraph(1000)), after: (view) => press(view, "f") },
  near: { title: "A thousand nodes, near", model: () => new FakeModel(bigGraph(1000)) },
};

function replayed(data: unknown): FakeModel {
  const stream = data as Stream; // written by Python's own types
  const model = new FakeModel(stream.start);
  if (flags.includes("play")) void play(model, stream);
  else for (const message of stream.messages) model.publish(message);
  return model;
}

async function play(model: FakeModel, stream: Stream): Promise<void> {
  let clockS = 0;
  for (const message of stream.messages) {
    const atS = message.events[0]?.at_s ?? clockS;
    await new Promise((resolve) => setTimeout(resolve, Math.min(2000, (atS - clockS) * 1000 + 60)));
    clockS = atS;
    model.publish(message);
  }
}

function silent(data: unknown): FakeModel {
  const model = replayed(data);
  model.answers = false;
  return model;
}

function exhibit(name: string, { title, model, after }: Exhibit): void {
  const heading = document.createElement("h2");
  heading.textContent = title;
  const place = document.createElement("div");
  place.id = name;
  document.body.append(heading, place);
  const signal = new AbortController().signal;
  const fake = model();
  const view = new GraphView(new Session(fake, signal), signal);
  place.append(view.element);
  view.start();
  if (name === "saved") fake.emit("comm:close", null);
  if (after) setTimeout(() => after(view.element), 100);
}

if (flags.includes("dark")) document.documentElement.classList.add("dark");
const only = /only=(\w+)/.exec(flags)?.[1];
for (const [name, shown] of Object.entries(EXHIBITS)) if (only === undefined || only === name) exhibit(name, shown);
