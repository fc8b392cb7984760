/** The inspector: six tabs, of which only the open one is drawn; above them what is asked or broke, over them an opened node. */

import { roving } from "../view/controls.ts";
import { html, on, setAttribute, setText } from "../view/dom.ts";
import type { Panel, PanelView } from "./desk.ts";

export const TABS = ["State", "Messages", "Waiting", "Breakpoints", "Why", "Log"] as const;
export type TabName = (typeof TABS)[number];

export class Inspector {
  readonly element: HTMLElement;
  private readonly _buttons = new Map<TabName, { readonly element: HTMLButtonElement; readonly count: HTMLElement }>();
  private readonly _body = html("div.tab-body");
  private _over: HTMLElement | null = null;
  private _open: TabName = "State";
  private _view: PanelView | null = null;

  constructor(
    private readonly _panels: Readonly<Record<TabName, Panel>>,
    asked: HTMLElement,
    failure: HTMLElement,
    private readonly _prefix: string,
    signal: AbortSignal,
  ) {
    const tabs = html("div.tabs", { role: "tablist", "aria-label": "Inspector" });
    for (const name of TABS) tabs.append(this._tab(name, signal));
    roving(tabs, signal);
    for (const name of TABS) {
      setAttribute(_panels[name].element, "role", "tabpanel");
      setAttribute(_panels[name].element, "aria-labelledby", `${_prefix}-tab-${name}`);
    }
    this.element = html("aside.inspector", { "aria-label": "Inspector" }, asked, tabs, failure, this._body);
    this.show("State");
  }

  get openTab(): TabName {
    return this._open;
  }

  show(name: TabName): void {
    this._open = name;
    for (const [each, { element }] of this._buttons) setAttribute(element, "aria-selected", String(each === name));
    this._body.replaceChildren(this._over ?? this._panels[name].element);
    if (this._view !== null) this._panels[name].update(this._view);
  }

  /** Lays something over the open tab; null takes it away. */
  lay(over: HTMLElement | null): void {
    this._over = over;
    this.show(this._open);
  }

  get isCovered(): boolean {
    return this._over !== null;
  }

  update(view: PanelView): void {
    this._view = view;
    const counts = { Waiting: view.state.waiting.length, Breakpoints: view.state.breakpoints.length };
    for (const [name, count] of Object.entries(counts)) {
      const part = this._buttons.get(name as TabName)?.count;
      if (part === undefined) continue;
      setText(part, String(count));
      part.hidden = count === 0;
    }
    if (this._over === null) this._panels[this._open].update(view);
  }

  private _tab(name: TabName, signal: AbortSignal): HTMLElement {
    const count = html("em", { hidden: true });
    const element = html("button", { type: "button", role: "tab", id: `${this._prefix}-tab-${name}` }, name, count);
    setAttribute(element, "data-hint-key", TABS.indexOf(name) + 1);
    const choose = () => {
      this._over = null;
      this.show(name);
    };
    on(element, "click", choose, signal);
    this._buttons.set(name, { element, count });
    return element;
  }
}
