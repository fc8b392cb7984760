/** One node opened: what it is, what it called and used, what it was given, what it returned. Drawn at once from what the
 * view knows, and filled when the kernel has answered; without a kernel it says what it can't know. */

import type { Reply } from "../bridge/channel.ts";
import { formatDuration, listWords, plural } from "../core/format.ts";
import { has, lookUp } from "../core/record.ts";
import { visible } from "../core/text.ts";
import { callsOf, tokenWords, warningsOf } from "../core/tool_words.ts";
import { statusWords } from "../core/words.ts";
import type { NodeDetails, NodeState, Snapshot, WireFinding, WireNode } from "../protocol/generated.ts";
import { html, on } from "../view/dom.ts";
import { FINDING_LOOKS, findingIcon } from "../view/findings.ts";
import { stateIcon } from "../view/glyph.ts";
import { iconButton } from "../view/icon_button.ts";
import { toolCallRows } from "./tool_calls.ts";
import { folded, nothing, textRows } from "./values.ts";

export class DetailsCard {
  readonly element: HTMLElement;
  private readonly _facts = html("p.facts.dim");
  private readonly _sign = html("span");
  private readonly _live = html("div.sections");
  private readonly _asked = html("div.sections");
  private _state: NodeState | undefined;
  private _details: NodeDetails | null = null;
  private _thoughts: readonly HTMLElement[] = [];
  private _askedFor = "";

  constructor(
    readonly node: WireNode,
    close: () => void,
    signal: AbortSignal,
    findings: readonly WireFinding[],
    private readonly _ask: () => Promise<Reply>,
  ) {
    const button = iconButton("close", "Close", "Esc");
    on(button, "click", close, signal);
    const title = html("h3.cut", { title: node.name }, visible(node.name));
    this.element = html(
      "section.card.details",
      { "aria-label": `Node ${node.name}`, tabindex: -1 },
      html("header", this._sign, title, button),
      this._facts,
      node.doc === "" ? null : html("p.doc", node.doc),
      ...(findings.length === 0 ? [] : [html("div.sections", ...findingRows(findings))]),
      this._live,
      this._asked,
    );
    this._asked.append(nothing("Asking the kernel for source, input and delta…"));
  }

  /**
   * What the snapshot knows; called again whenever the node's state changes. The kernel is asked again once the node has
   * begun or ended another visit: its input or its delta is a new one.
   */
  update({ nodes, run }: Snapshot): void {
    const state = lookUp(nodes, this.node.id);
    const status = state?.status ?? "idle";
    const version = `${run.run_id} ${state?.visits} ${status}`;
    if (version !== this._askedFor) void this._fetch(version);
    else if (state === this._state) return;
    this._state = state;
    this._sign.className = `${status} ink`;
    this._sign.replaceChildren(stateIcon(status));
    this._facts.textContent = facts(this.node, state);
    this._live.replaceChildren(...this._liveSections());
  }

  private async _fetch(version: string): Promise<void> {
    this._askedFor = version;
    const reply = await this._ask();
    if (version === this._askedFor) this._answer(reply);
  }

  /** The kernel's answer, or the words for its silence. */
  private _answer(reply: Reply): void {
    if (!reply.ok) {
      const { what, fix } = reply.error;
      this._asked.replaceChildren(nothing(`Source, input and delta are not known: ${what}.`), nothing(fix));
    } else if (isDetails(reply.result)) {
      const { reasoning = "" } = reply.result;
      if (reasoning !== (this._details?.reasoning ?? ""))
        this._thoughts = reasoning === "" ? [] : section("Reasoning", folded(reasoning));
      this._details = reply.result;
      this._asked.replaceChildren(...this._sections(reply.result));
      this._live.replaceChildren(...this._liveSections());
    }
  }

  private _liveSections(): HTMLElement[] {
    const state = this._state;
    if (state === undefined) return [];
    const calls = callsOf(state);
    const warned = warningsOf(state).map((text) => html("p.finding.waiting", findingIcon(), ` ${text}`));
    const tokens = tokenWords(state);
    const isOver = state.status !== "running" && state.status !== "skipped";
    // While a node streams the view knows the end of it; afterwards the kernel still has it whole.
    const stream = (state.status !== "running" && this._details?.stream) || state.stream;
    return [
      ...(state.note !== "" && isOver ? [html("p", state.note)] : []),
      ...(warned.length === 0 ? [] : section("Warnings", ...warned)),
      ...(calls.length === 0 ? [] : section("Tool calls", toolCallRows(calls, this._details?.calls ?? []))),
      ...(tokens === "" ? [] : section("Tokens", html("p", tokens))),
      ...this._thoughts,
      ...(stream === "" ? [] : section("Streamed", block(stream))),
    ];
  }

  private _noSource(): string {
    if (this.node.kind === "subgraph") return "It is a graph of its own: its nodes hold the code.";
    const special = this.node.kind === "start" || this.node.kind === "end";
    return special ? "It belongs to every graph and has no code." : "Python doesn't know its source.";
  }

  private _sections(details: NodeDetails): HTMLElement[] {
    return [
      ...section("Last input", values(details.last_input, "It hasn't been handed anything yet.")),
      ...section("Last delta", values(details.last_delta, "It hasn't returned anything yet.")),
      ...section("Source", details.source === "" ? nothing(this._noSource()) : block(details.source)),
    ];
  }
}

/** What check() says of the node: a heading for each with what to do. */
function findingRows(findings: readonly WireFinding[]): HTMLElement[] {
  return findings.flatMap(({ level, what, fix }) => [
    html("p", { class: `finding ${FINDING_LOOKS[level]}` }, html("b", `${level}: `), what),
    ...(fix === "" ? [] : [html("p.dim", `fix: ${fix}`)]),
  ]);
}

function facts(node: WireNode, state: NodeState | undefined): string {
  const parts = [state === undefined ? "" : statusWords(state)];
  if (state !== undefined && state.visits > 0) parts.push(plural(state.visits, "visit"));
  if (state !== undefined && state.total_s > 0) parts.push(`${formatDuration(state.total_s)} in all`);
  if (state !== undefined && state.wrote.length > 0) parts.push(`wrote ${listWords(state.wrote)}`);
  if (node.join === "all") parts.push("waits for all its inputs");
  parts.push(node.location);
  return parts.filter((part) => part !== "").join(" · ");
}

function section(title: string, ...content: HTMLElement[]): HTMLElement[] {
  return [html("h4", title), ...content];
}

function values(record: Readonly<Record<string, string>> | null, empty: string): HTMLElement {
  return record === null ? nothing(empty) : textRows(record);
}

function block(text: string): HTMLElement {
  return html("pre.mono", { tabindex: 0 }, text);
}

function isDetails(value: unknown): value is NodeDetails {
  return has(value, "last_input");
}
