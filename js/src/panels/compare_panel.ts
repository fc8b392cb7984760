/** Two branches side by side: their steps aligned, and where their states differ. */

import { has } from "../core/record.ts";
import type { CompareResult, CompareRow, WireBranch, WireStep } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { html } from "../view/dom.ts";
import { icon, stateIcon } from "../view/glyph.ts";
import { previewText } from "../view/rich.ts";
import type { Desk } from "./desk.ts";

export class ComparePanel {
  readonly element: HTMLElement;
  private readonly _body = html("div.scroll");

  constructor(
    private readonly _a: WireBranch,
    private readonly _b: WireBranch,
    private readonly _names: (id: string) => string,
    desk: Desk,
    close: () => void,
  ) {
    const title = html("span", html("b", _a.name), " beside ", html("b", _b.name));
    const cap = html("div.cap", title, button("", close, { name: "Close", key: "Esc", icon: icon("close") }));
    this.element = html(
      "section.over.compare",
      { tabindex: -1, "aria-label": "Comparison of branches" },
      cap,
      this._body,
    );
    void this._ask(desk);
  }

  private async _ask(desk: Desk): Promise<void> {
    const reply = await desk.ask({ type: "compare", a: this._a.id, b: this._b.id });
    if (reply?.ok === false) this._body.replaceChildren(html("p.none", `${reply.error.what} — ${reply.error.fix}`));
    else if (reply !== null && isCompare(reply.result)) this._body.replaceChildren(...this._draw(reply.result));
  }

  private _draw({ rows, state }: CompareResult): HTMLElement[] {
    const values = Object.entries(state).filter(([, [a, b]]) => a?.text !== b?.text);
    const steps = html(
      "table",
      head(this._a.name, this._b.name, "Wrote other values"),
      ...rows.map((row) => this._row(row)),
    );
    const same = html("p.none", "Both end in the same state.");
    const ends = html(
      "table",
      head("Key", this._a.name, this._b.name),
      ...values.map(([key, [a, b]]) =>
        html("tr", html("td.mono", key), ...[a, b].map((one) => html("td", one ? previewText(one) : "—"))),
      ),
    );
    return [html("div.cap", "Steps"), steps, html("div.cap", "At the end"), values.length > 0 ? ends : same];
  }

  private _row({ a, b, differs }: CompareRow): HTMLElement {
    const isOther = a?.node !== b?.node || differs.length > 0;
    return html(
      "tr",
      { class: isOther ? "differs" : "" },
      this._step(a),
      this._step(b),
      html("td.mono", differs.join(", ")),
    );
  }

  private _step(step: WireStep | null): HTMLElement {
    if (step === null) return html("td.dim", "—");
    const look = step.status === "pinned" ? "edited" : step.status;
    return html(
      "td",
      html("span", { class: `${look} ink` }, stateIcon(look)),
      ` ${step.number} ${this._names(step.node)}`,
    );
  }
}

function head(...words: string[]): HTMLElement {
  return html("tr", ...words.map((word) => html("th", word)));
}

function isCompare(value: unknown): value is CompareResult {
  return has(value, "rows");
}
