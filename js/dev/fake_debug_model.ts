/** A session for pages without a kernel: looks back and forward in its record, checks edits, opens values. */

import type { AnyCommand } from "../src/bridge/channel.ts";
import type { Snapshot } from "../src/protocol/generated.ts";
import type { DebugState, InspectKeyResult, ValueChild } from "../src/protocol/generated_debugging.ts";
import { at, DRAFT, type Fixture, preview } from "./debugger_fixtures.ts";
import { FakeModel } from "./fake_model.ts";

export class FakeDebugModel extends FakeModel {
  debug: DebugState;
  picture: Snapshot | null;
  readonly asked: AnyCommand[] = [];
  private readonly first: Fixture;

  constructor(fixture: Fixture) {
    super(fixture.snapshot);
    this.first = fixture;
    this.debug = fixture.debug;
    this.picture = fixture.picture;
  }

  override get(name: string): unknown {
    if (name === "debug") return this.debug;
    return name === "picture" ? (this.picture ?? {}) : super.get(name);
  }

  override send(command: AnyCommand): void {
    this.asked.push(command);
    if (command.type === "resync" || command.type === "inspect_node") return super.send(command);
    if (this.answers) queueMicrotask(() => this.answer(command));
  }

  /** A new state, as after a pause. */
  show(change: Partial<DebugState>, picture: Snapshot | null = null): void {
    this.debug = { ...this.debug, ...change, seq: this.debug.seq + 1 };
    this.picture = picture;
    this.emit("msg:custom", { type: "debug", state: this.debug, picture });
  }

  refuse(what: string, fix: string): void {
    this.refusal = { what, where: "graph 'support'", fix };
  }
  private refusal: { what: string; where: string; fix: string } | null = null;

  private answer(command: AnyCommand): void {
    const { request_id } = command;
    const error = this.refusal ?? this.faultOf(command);
    this.refusal = null;
    if (error !== null) return this.emit("msg:custom", { type: "reply", request_id, ok: false, error });
    this.act(command);
    this.emit("msg:custom", { type: "reply", request_id, ok: true, result: this.resultOf(command) });
  }

  private faultOf(command: AnyCommand): { what: string; where: string; fix: string } | null {
    if (command.type !== "edit" || command.key !== "max_revisions" || /^\d+$/.test(command.text.trim())) return null;
    return { what: `${command.text} is no int, 0 or more`, where: "key max_revisions", fix: "a whole number" };
  }

  private act(command: AnyCommand): void {
    const looking = this.debug.looking ?? this.debug.step;
    switch (command.type) {
      case "goto":
        return this.look(command.count);
      case "step_back":
        return this.look(looking - command.count);
      case "step_forward":
        return looking + 1 >= this.debug.step ? this.live() : this.look(looking + 1);
      case "live":
        return this.live();
      case "remove_breakpoint":
        return this.show({ breakpoints: this.debug.breakpoints.filter((one) => one.id !== command.id) }, this.picture);
      case "set_breakpoint": {
        const { type, request_id, ...rest } = command;
        const made = {
          ...rest,
          id: command.id ?? `new ${request_id} ${type}`,
          hits: 0,
          text: `${command.node} ${command.when}`,
        };
        const others = this.debug.breakpoints.filter((one) => one.id !== command.id);
        return this.show({ breakpoints: [...others, made] }, this.picture);
      }
      case "watch":
        return this.show(
          { watches: [...this.debug.watches, { text: command.text, value: preview("1"), error: "" }] },
          this.picture,
        );
      case "unwatch":
        return this.show({ watches: this.debug.watches.filter((one) => one.text !== command.text) }, this.picture);
      default:
        return;
    }
  }

  private look(number: number): void {
    const { debug, picture } = at(Math.max(0, number), this.debug.seq + 1);
    const { breakpoints, questions } = this.debug;
    this.show({ ...debug, breakpoints, questions }, picture);
  }

  private live(): void {
    this.show({ ...this.first.debug, looking: null, next_branch: "", seq: this.debug.seq });
  }

  private resultOf(command: AnyCommand): unknown {
    switch (command.type) {
      case "edit":
        return { expects: "int, 0 or more", branch: this.debug.next_branch };
      case "why":
        return { kind: "next", title: `Why is ${command.node} next?`, sentences: WHY };
      case "inspect_key":
        return inside(command.key, command.path);
      case "compare":
        return comparison(this.debug);
      default:
        return null;
    }
  }
}

const WHY = [
  "draft finished at step 9 and has two ways on.",
  'Its router `tool_or_critic` returned `"critic"`, because the last message has no tool call.',
  "tools was not chosen in this visit; it ran at step 8.",
  "critic runs on any arrival; one has arrived.",
];

function comparison(state: DebugState): unknown {
  const main = state.steps.filter((step) => step.branch === 0);
  const other = state.steps.filter((step) => step.branch === 1);
  const rows = main
    .slice(6, 11)
    .map((step, i) => ({ a: step, b: other[i] ?? null, differs: i === 0 ? ["draft"] : [] }));
  return {
    rows,
    state: { draft: [preview(DRAFT.now), preview(DRAFT.before)], score: [preview("None"), preview("0.4")] },
  };
}

function child(label: string, path: (string | number)[], text: string, opens = false): ValueChild {
  return { label, path, value: preview(text), opens };
}

function inside(key: string, path: readonly (string | number)[]): InspectKeyResult {
  if (path.length > 0) return { text: `the inside of ${key} at ${path.join(".")}`, children: [], more: 0 };
  if (key === "draft") return { text: DRAFT.now, children: [], more: 0, before: { text: DRAFT.before, children: [] } };
  if (key === "messages") {
    const old = Array.from({ length: 6 }, (_, i) => child(`${i}`, [i], `earlier message ${i}`, true));
    const now = [
      ...old,
      child("6", [6], "assistant: VAT is added once per line and once more on the total (billing/tax.py).", true),
    ];
    return { text: "[…]", children: now, more: 0, before: { text: "[…]", children: old } };
  }
  const children = ["searches", "depth", "notes"].map((name) =>
    child(name, [name], `'${name} of ${key}'`, name === "notes"),
  );
  return { text: "{…}", children, more: key === "plan" ? 12 : 0 };
}
