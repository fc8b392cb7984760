/** A breakpoint being added or changed: where, when, on which condition, at which hit, stop or only log. */

import type { CommandBody } from "../bridge/channel.ts";
import type { WireEdge, WireNode } from "../protocol/generated.ts";
import type { WireBreakpoint } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { html, on } from "../view/dom.ts";
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
  readonly element = html("div.bp-form", { role: "group", "aria-label": "Breakpoint" });
  private readonly _fault = html("p.verdict.bad", { role: "status", hidden: true });
  private readonly _condition = input('state["score"] < 0.7', "Condition");
  private readonly _hit = input("every", "Stop at the n-th hit");
  private readonly _toolName = input("its name", "Tool");
  private readonly _log = input("stop instead of printing", "Print this expression and go on");
  private _draft: Draft;

  constructor(
    draft: Draft,
    private readonly _nodes: readonly WireNode[],
    private readonly _edges: readonly WireEdge[],
    private readonly _names: (id: string) => string,
    private readonly _desk: Desk,
    private readonly _close: () => void,
  ) {
    this._draft = draft;
    this._condition.value = draft.condition;
    this._hit.value = draft.hit === null ? "" : String(draft.hit);
    this._log.value = draft.log;
    if (draft.kind === "tool") this._toolName.value = draft.node ?? "";
    on(this.element, "keydown", (event) => this._press(event));
    this._draw();
  }

  start(): void {
    this._condition.focus();
  }

  private _press(event: KeyboardEvent): void {
    const isField = event.target instanceof HTMLInputElement;
    if (event.key === "Escape") this._close();
    else if (event.key === "Enter" && isField) void this._apply();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private _draw(): void {
    const { kind } = this._draft;
    this.element.replaceChildren(
      line("Stop", this._select("kind", KINDS)),
      ...(kind === "node"
        ? [line("Node", this._select("node", this._nodeChoices())), line("When", this._select("when", WHEN))]
        : []),
      ...(kind === "edge" ? [line("Edge", this._select("edge", this._edgeChoices()))] : []),
      ...(kind === "tool" ? [line("Tool", this._toolName)] : []),
      line("If", this._condition),
      line("Hit", this._hit),
      line("Log", this._log),
      this._fault,
      html(
        "div.form-buttons",
        button(this._draft.id === null ? "Add" : "Apply", () => void this._apply(), { key: "⏎", className: "outline" }),
        button("Cancel", this._close, { key: "Esc" }),
      ),
    );
  }

  private _nodeChoices(): (readonly [string, string])[] {
    return this._nodes
      .filter((node) => node.kind !== "start" && node.kind !== "end")
      .map((node) => [node.id, node.name]);
  }

  private _edgeChoices(): (readonly [string, string])[] {
    return this._edges.map((edge) => [edge.id, `${this._names(edge.source)} → ${this._names(edge.target)}`]);
  }

  private _select<K extends "kind" | "node" | "edge" | "when">(
    field: K,
    choices: readonly (readonly [string, string])[],
  ): HTMLElement {
    const held = this._draft[field];
    const current = choices.some(([value]) => value === held) ? held : (choices[0]?.[0] ?? null);
    this._draft = { ...this._draft, [field]: current };
    const options = choices.map(([value, words]) => html("option", { value, selected: value === current }, words));
    const element = html("select.field", { "data-key": `bp ${field}` }, ...options);
    on(element, "change", () => {
      this._draft = { ...this._draft, [field]: element.value };
      if (field === "kind") this._draw();
    });
    return element;
  }

  private async _apply(): Promise<void> {
    const node = this._draft.kind === "tool" ? this._toolName.value.trim() : this._draft.node;
    const reply = await this._desk.ask(commandOf({ ...this._draft, node, ...this._typed() }));
    if (reply === null || reply.ok) return this._close();
    this._fault.hidden = false;
    this._fault.textContent = `${reply.error.what} — ${reply.error.fix}`;
  }

  private _typed(): Pick<Draft, "condition" | "hit" | "log"> {
    const hit = Number.parseInt(this._hit.value, 10);
    return {
      condition: this._condition.value.trim(),
      hit: Number.isNaN(hit) ? null : hit,
      log: this._log.value.trim(),
    };
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
  return html("label.bp-line", html("span.dim", words), control);
}

function input(placeholder: string, label: string): HTMLInputElement {
  return html("input.field.mono", { placeholder, "aria-label": label, spellcheck: "false", autocomplete: "off" });
}
