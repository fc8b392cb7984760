/** The state's list of messages as a conversation; what the shown step said is marked. */

import { plural } from "../core/format.ts";
import type { DebugState, WireMessage } from "../protocol/generated_debugging.ts";
import { classes, html, setText } from "../view/dom.ts";
import { Keyed } from "../view/keyed.ts";
import type { Panel, PanelView } from "./desk.ts";

const ROLES: Readonly<Record<string, string>> = { system: "sys", user: "user", human: "user", tool: "tool" };

export class MessagesPanel implements Panel {
  readonly element: HTMLElement;
  private readonly _title = html("span");
  private readonly _list = html("ol.chat");
  private readonly _empty = html("p.none");
  private readonly _rows = new Keyed(this._list);
  private _shown = 0;

  constructor() {
    this.element = html("div.panel.p-msg.scroll", html("div.cap", this._title), this._empty, this._list);
  }

  update({ state, names }: PanelView): void {
    const messages = state.messages ?? [];
    setText(this._title, state.messages === null ? "Messages" : `${plural(messages.length, "message")}${when(state)}`);
    this._empty.hidden = messages.length > 0;
    setText(this._empty, state.messages === null ? "This state has no list of messages." : "No messages yet.");
    this._rows.update(
      messages.map((message, i) => ({
        key: `${i}`,
        version: JSON.stringify(message),
        make: () => bubble(message, message.node === "" ? "" : names(message.node)),
      })),
    );
    // The newest is what one wants to read.
    if (messages.length !== this._shown) this.element.scrollTop = this.element.scrollHeight;
    this._shown = messages.length;
  }
}

function when(state: DebugState): string {
  return state.looking === null ? "" : ` after step ${state.looking}`;
}

function bubble(message: WireMessage, node: string): HTMLElement {
  const { role, step, text, calls, isNew } = { ...message, isNew: message.new };
  const facts = [step === null ? "" : `step ${step}`, isNew ? "new" : ""].filter(Boolean).join(", ");
  return html(
    "li",
    { class: classes(ROLES[role], isNew && "add") },
    html("b", node || role, facts === "" ? null : html("i.dim", ` ${facts}`)),
    html("span", { class: role === "tool" ? "mono said" : "said" }, text),
    ...calls.map((call) => html("span.call.mono", call)),
  );
}
