/** Why a node comes next, waits, ran twice or wasn't chosen: asked of the kernel for the chosen node, anew at each point. */

import { has } from "../core/record.ts";
import type { WhyResult } from "../protocol/generated_debugging.ts";
import { html, on } from "../view/dom.ts";
import type { Desk, Panel, PanelView } from "./desk.ts";

export class WhyPanel implements Panel {
  readonly element: HTMLElement;
  private readonly _title = html("span.cut");
  private readonly _facts = html("ol.why");
  private readonly _empty = html("p.none");
  private readonly _select = html("select.field", { "aria-label": "Other node" });
  private _node: string | null = null;
  private _asked = "";
  private _choices = "";

  constructor(private readonly _desk: Desk) {
    on(this._select, "change", () => this._desk.choose(this._select.value));
    const other = html("label.other", html("span.dim", "Node"), this._select, html("kbd", "W"));
    const cap = html("div.cap", this._title, other);
    this.element = html("div.panel.p-why.scroll", cap, this._facts, this._empty);
  }

  focus(): void {
    this._select.focus();
  }

  update(view: PanelView): void {
    const { state } = view;
    this._node = this._desk.chosen ?? state.would_run[0] ?? state.stopped_at[0] ?? state.waiting[0]?.node ?? null;
    this._fillChoices(view);
    if (view.saved) return this._say("", [], "Only a kernel can answer this: run the cell again.");
    if (this._node === null)
      return this._say("", [], "Choose a node in the graph to ask why it runs, waits or wasn't chosen.");
    const key = JSON.stringify([this._node, state.branch, state.looking, state.step, state.inside, state.status]);
    if (key === this._asked) return;
    this._asked = key;
    void this._ask(this._node, key, view.names(this._node));
  }

  private async _ask(node: string, key: string, name: string): Promise<void> {
    const reply = await this._desk.ask({ type: "why", node });
    if (key !== this._asked || reply === null) return;
    if (!reply.ok) this._say(`Why ${name}?`, [], `${reply.error.what} — ${reply.error.fix}`);
    else if (isWhy(reply.result)) this._say(reply.result.title, reply.result.sentences, "");
  }

  private _say(title: string, sentences: readonly string[], words: string): void {
    this._title.textContent = title;
    this._title.title = title;
    this._facts.replaceChildren(...sentences.map((sentence) => html("li", ...withCode(sentence))));
    this._empty.textContent = words;
    this._empty.hidden = words === "";
  }

  private _fillChoices(view: PanelView): void {
    const nodes = view.nodes.filter((node) => node.kind !== "start");
    const key = JSON.stringify(nodes.map((node) => [node.id, node.name]));
    if (key !== this._choices)
      this._select.replaceChildren(...nodes.map((node) => html("option", { value: node.id }, node.name)));
    this._choices = key;
    if (this._node !== null && document.activeElement !== this._select) this._select.value = this._node;
  }
}

/** What stands between backticks is code. */
function withCode(sentence: string): (HTMLElement | string)[] {
  return sentence.split("`").map((part, i) => (i % 2 === 1 ? html("span.mono", part) : part));
}

function isWhy(value: unknown): value is WhyResult {
  return has(value, "sentences");
}
