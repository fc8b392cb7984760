/** Two branches side by side: their steps aligned, and where their states differ. */

import type { CompareResult, CompareRow, WireBranch, WireStep } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { html } from "../view/dom.ts";
import { icon, stateIcon } from "../view/glyph.ts";
import { previewText } from "../view/rich.ts";
import type { Desk } from "./desk.ts";

export class ComparePanel {
  readonly element: HTMLElement;
  private readonly body = html("div", { class: "scroll" });

  constructor(
    private readonly a: WireBranch,
    private readonly b: WireBranch,
    private readonly names: (id: string) => string,
    desk: Desk,
    close: () => void,
  ) {
    const title = html("span", {}, html("b", {}, a.name), " beside ", html("b", {}, b.name));
    const cap = html(
      "div",
      { class: "cap" },
      title,
      button("", close, { name: "Close", key: "Esc", icon: icon("close") }),
    );
    this.element = html(
      "section",
      { class: "over compare", tabindex: -1, "aria-label": "Comparison of branches" },
      cap,
      this.body,
    );
    void this.ask(desk);
  }

  private async ask(desk: Desk): Promise<void> {
    const reply = await desk.ask({ type: "compare", a: this.a.id, b: this.b.id });
    if (reply?.ok === false)
      this.body.replaceChildren(html("p", { class: "none" }, `${reply.error.what} — ${reply.error.fix}`));
    else if (reply !== null && isCompare(reply.result)) this.body.replaceChildren(...this.draw(reply.result));
  }

  private draw({ rows, state }: CompareResult): HTMLElement[] {
    const values = Object.entries(state).filter(([, [a, b]]) => a?.text !== b?.text);
    const steps = html(
      "table",
      {},
      head(this.a.name, this.b.name, "Wrote other values"),
      ...rows.map((row) => this.row(row)),
    );
    const same = html("p", { class: "none" }, "Both end in the same state.");
    const ends = html(
      "table",
      {},
      head("Key", this.a.name, this.b.name),
      ...values.map(([key, [a, b]]) =>
        html(
          "tr",
          {},
          html("td", { class: "mono" }, key),
          ...[a, b].map((one) => html("td", {}, one ? previewText(one) : "—")),
        ),
      ),
    );
    return [
      html("div", { class: "cap" }, "Steps"),
      steps,
      html("div", { class: "cap" }, "At the end"),
      values.length > 0 ? ends : same,
    ];
  }

  private row({ a, b, differs }: CompareRow): HTMLElement {
    const isOther = a?.node !== b?.node || differs.length > 0;
    return html(
      "tr",
      { class: isOther ? "differs" : "" },
      this.step(a),
      this.step(b),
      html("td", { class: "mono" }, differs.join(", ")),
    );
  }

  private step(step: WireStep | null): HTMLElement {
    if (step === null) return html("td", { class: "dim" }, "—");
    const look = step.status === "pinned" ? "edited" : step.status;
    return html(
      "td",
      {},
      html("span", { class: `${look} ink` }, stateIcon(look)),
      ` ${step.number} ${this.names(step.node)}`,
    );
  }
}

function head(...words: string[]): HTMLElement {
  return html("tr", {}, ...words.map((word) => html("th", {}, word)));
}

function isCompare(value: unknown): value is CompareResult {
  return typeof value === "object" && value !== null && "rows" in value;
}
