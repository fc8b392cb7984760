/** A breakpoint being added or changed: where, when, on which condition, at which hit, stop or only log. */

import type { CommandBody } from "../bridge/channel.ts";
import type { WireEdge, WireNode } from "../protocol/generated.ts";
import type { WireBreakpoint } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { html } from "../view/dom.ts";
import type { Desk } from "./desk.ts";

type Kind = WireBreakpoint["kind"];
export type Draft = Omit<WireBreakpoint, "id" | "hits" | "text"> & { readonly id: string | null };

const KINDS: readonly (readonly [Kind, string])[] = [
  ["node", "at a node"],
  ["edge", "on an edge"],
  ["predicate", "when the state fits"],
  ["exception", "on any exception"],
  ["tool", "on a tool call"],
];

export function blankDraft(node: string | null): Draft {
  const rest = { edge: null, when: "before", condition: "", hit: null, log: "", enabled: true } as const;
  return { id: null, kind: "node", node, ...rest };
}

export class BreakpointForm {
  readonly element = html("div", { class: "bp-form", role: "group", "aria-label": "Breakpoint" });
  private readonly fault = html("p", { class: "verdict bad", role: "status", hidden: true });
  private readonly condition = input('state["score"] < 0.7', "Condition");
  private readonly hit = input("every", "Stop at the n-th hit");
  private readonly toolName = input("its name", "Tool");
  private readonly log = input("stop instead of printing", "Print this expression and go on");
  private draft: Draft;

  constructor(
    draft: Draft,
    private readonly nodes: readonly WireNode[],
    private readonly edges: readonly WireEdge[],
    private readonly names: (id: string) => string,
    private readonly desk: Desk,
    private readonly close: () => void,
  ) {
    this.draft = draft;
    this.condition.value = draft.condition;
    this.hit.value = draft.hit === null ? "" : String(draft.hit);
    this.log.value = draft.log;
    if (draft.kind === "tool") this.toolName.value = draft.node ?? "";
    this.element.addEventListener("keydown", (event) => this.press(event));
    this.draw();
  }

  start(): void {
    this.condition.focus();
  }

  private press(event: KeyboardEvent): void {
    const isField = event.target instanceof HTMLInputElement;
    if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && isField) void this.apply();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private draw(): void {
    const { kind } = this.draft;
    this.element.replaceChildren(
      line("Stop", this.select("kind", KINDS)),
      ...(kind === "node"
        ? [line("Node", this.select("node", this.nodeChoices())), line("When", this.select("when", WHEN))]
        : []),
      ...(kind === "edge" ? [line("Edge", this.select("edge", this.edgeChoices()))] : []),
      ...(kind === "tool" ? [line("Tool", this.toolName)] : []),
      line("If", this.condition),
      line("Hit", this.hit),
      line("Log", this.log),
      this.fault,
      html(
        "div",
        { class: "form-buttons" },
        button(this.draft.id === null ? "Add" : "Apply", () => void this.apply(), { key: "⏎", className: "outline" }),
        button("Cancel", this.close, { key: "Esc" }),
      ),
    );
  }

  private nodeChoices(): (readonly [string, string])[] {
    return this.nodes
      .filter((node) => node.kind !== "start" && node.kind !== "end")
      .map((node) => [node.id, node.name]);
  }

  private edgeChoices(): (readonly [string, string])[] {
    return this.edges.map((edge) => [edge.id, `${this.names(edge.source)} → ${this.names(edge.target)}`]);
  }

  private select<K extends "kind" | "node" | "edge" | "when">(
    field: K,
    choices: readonly (readonly [string, string])[],
  ): HTMLElement {
    const held = this.draft[field];
    const current = choices.some(([value]) => value === held) ? held : (choices[0]?.[0] ?? null);
    this.draft = { ...this.draft, [field]: current };
    const options = choices.map(([value, words]) => html("option", { value, selected: value === current }, words));
    const element = html("select", { class: "field", "data-key": `bp ${field}` }, ...options);
    element.addEventListener("change", () => {
      this.draft = { ...this.draft, [field]: element.value };
      if (field === "kind") this.draw();
    });
    return element;
  }

  private async apply(): Promise<void> {
    const node = this.draft.kind === "tool" ? this.toolName.value.trim() : this.draft.node;
    const reply = await this.desk.ask(commandOf({ ...this.draft, node, ...this.typed() }));
    if (reply === null || reply.ok) return this.close();
    this.fault.hidden = false;
    this.fault.textContent = `${reply.error.what} — ${reply.error.fix}`;
  }

  private typed(): Pick<Draft, "condition" | "hit" | "log"> {
    const hit = Number.parseInt(this.hit.value, 10);
    return { condition: this.condition.value.trim(), hit: Number.isNaN(hit) ? null : hit, log: this.log.value.trim() };
  }
}

const WHEN = [
  ["before", "before it runs"],
  ["after", "after it ran"],
] as const;

/** The command that makes a breakpoint what the draft says. Of a tool call `node` is the tool's name. */
export function commandOf(draft: Draft): CommandBody {
  const node = draft.kind === "node" || draft.kind === "tool" ? draft.node : null;
  const edge = draft.kind === "edge" ? draft.edge : null;
  const { id, kind, when, condition, hit, log, enabled } = draft;
  return { type: "set_breakpoint", id, kind, node, edge, when, condition, hit, log, enabled };
}

function line(words: string, control: HTMLElement): HTMLElement {
  return html("label", { class: "bp-line" }, html("span", { class: "dim" }, words), control);
}

function input(placeholder: string, label: string): HTMLInputElement {
  return html("input", {
    class: "field mono",
    placeholder,
    "aria-label": label,
    spellcheck: "false",
    autocomplete: "off",
  });
}
