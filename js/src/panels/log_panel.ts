/** What nodes printed, warned of and failed with, by step. */

import type { WireLog } from "../protocol/generated_debugging.ts";
import { html, setText } from "../view/dom.ts";
import { Keyed } from "../view/keyed.ts";
import type { Panel, PanelView } from "./desk.ts";

const AT_END_PX = 24;

export class LogPanel implements Panel {
  readonly element: HTMLElement;
  private readonly _title = html("span");
  private readonly _list = html("ul.log.mono");
  private readonly _rows = new Keyed(this._list);
  private readonly _empty = html("p.none", "No output yet.");

  constructor() {
    const about = html("span.dim", "output and errors of nodes");
    const cap = html("div.cap", this._title, about);
    this.element = html("div.panel.p-log.scroll", cap, this._list, this._empty);
  }

  update({ state, names }: PanelView): void {
    const { element } = this;
    const wasAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - AT_END_PX;
    setText(this._title, state.looking === null ? "Log" : `Log up to step ${state.looking}`);
    const seen = new Map<string, number>();
    this._rows.update(
      state.log.map((line) => {
        const version = JSON.stringify(line);
        // The same words may come twice; older lines go out at the top, so a place in the list is no name.
        const nth = (seen.get(version) ?? 0) + 1;
        seen.set(version, nth);
        return { key: `${version} ${nth}`, version, make: () => row(line, line.node === "" ? "" : names(line.node)) };
      }),
    );
    this._empty.hidden = state.log.length > 0;
    if (wasAtEnd) element.scrollTop = element.scrollHeight;
  }
}

function row({ step, level, text }: WireLog, name: string): HTMLElement {
  const said = level === "warning" || level === "error" ? `${level}: ` : "";
  return html(
    "li",
    { class: level },
    html("span.dim", step === null ? "" : String(step)),
    html("b.cut", { title: name }, name),
    html("span.said", text.startsWith(said) ? text : `${said}${text}`),
  );
}
