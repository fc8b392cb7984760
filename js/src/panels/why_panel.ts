/** Why a node comes next, waits, ran twice or wasn't chosen: asked of the kernel for the chosen node, anew at each point. */

import type { WhyResult } from "../protocol/generated_debugging.ts";
import { html } from "../view/dom.ts";
import type { Desk, Panel, PanelView } from "./desk.ts";

export class WhyPanel implements Panel {
  readonly element: HTMLElement;
  private readonly title = html("span", { class: "cut" });
  private readonly facts = html("ol", { class: "why" });
  private readonly empty = html("p", { class: "none" });
  private readonly select = html("select", { class: "field", "aria-label": "Other node" });
  private node: string | null = null;
  private asked = "";
  private choices = "";

  constructor(private readonly desk: Desk) {
    this.select.addEventListener("change", () => this.desk.choose(this.select.value));
    const other = html(
      "label",
      { class: "other" },
      html("span", { class: "dim" }, "Node"),
      this.select,
      html("kbd", {}, "W"),
    );
    const cap = html("div", { class: "cap" }, this.title, other);
    this.element = html("div", { class: "panel p-why scroll" }, cap, this.facts, this.empty);
  }

  focus(): void {
    this.select.focus();
  }

  update(view: PanelView): void {
    const { state } = view;
    this.node = this.desk.chosen ?? state.would_run[0] ?? state.stopped_at[0] ?? state.waiting[0]?.node ?? null;
    this.fillChoices(view);
    if (view.saved) return this.say("", [], "Only a kernel can answer this: run the cell again.");
    if (this.node === null)
      return this.say("", [], "Choose a node in the graph to ask why it runs, waits or wasn't chosen.");
    const key = JSON.stringify([this.node, state.branch, state.looking, state.step, state.status]);
    if (key === this.asked) return;
    this.asked = key;
    void this.ask(this.node, key, view.names(this.node));
  }

  private async ask(node: string, key: string, name: string): Promise<void> {
    const reply = await this.desk.ask({ type: "why", node });
    if (key !== this.asked || reply === null) return;
    if (!reply.ok) this.say(`Why ${name}?`, [], `${reply.error.what} — ${reply.error.fix}`);
    else if (isWhy(reply.result)) this.say(reply.result.title, reply.result.sentences, "");
  }

  private say(title: string, sentences: readonly string[], words: string): void {
    this.title.textContent = title;
    this.title.title = title;
    this.facts.replaceChildren(...sentences.map((sentence) => html("li", {}, ...withCode(sentence))));
    this.empty.textContent = words;
    this.empty.hidden = words === "";
  }

  private fillChoices(view: PanelView): void {
    const nodes = view.nodes.filter((node) => node.kind !== "start");
    const key = JSON.stringify(nodes.map((node) => [node.id, node.name]));
    if (key !== this.choices)
      this.select.replaceChildren(...nodes.map((node) => html("option", { value: node.id }, node.name)));
    this.choices = key;
    if (this.node !== null && document.activeElement !== this.select) this.select.value = this.node;
  }
}

/** What stands between backticks is code. */
function withCode(sentence: string): (HTMLElement | string)[] {
  return sentence.split("`").map((part, i) => (i % 2 === 1 ? html("span", { class: "mono" }, part) : part));
}

function isWhy(value: unknown): value is WhyResult {
  return typeof value === "object" && value !== null && "sentences" in value;
}
