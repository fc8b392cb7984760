/** The inspector: six tabs, of which only the open one is drawn; above them what broke, over them an opened node. */

import { roving } from "../view/controls.ts";
import { html, setAttribute, setText } from "../view/dom.ts";
import type { Panel, PanelView } from "./desk.ts";

export const TABS = ["State", "Messages", "Waiting", "Breakpoints", "Why", "Log"] as const;
export type TabName = (typeof TABS)[number];

export class Inspector {
  readonly element: HTMLElement;
  private readonly buttons = new Map<TabName, { readonly element: HTMLButtonElement; readonly count: HTMLElement }>();
  private readonly body = html("div", { class: "tab-body" });
  private over: HTMLElement | null = null;
  private open: TabName = "State";
  private view: PanelView | null = null;

  constructor(
    private readonly panels: Readonly<Record<TabName, Panel>>,
    failure: HTMLElement,
    private readonly prefix: string,
    signal: AbortSignal,
  ) {
    const tabs = html("div", { class: "tabs", role: "tablist", "aria-label": "Inspector" });
    for (const name of TABS) tabs.append(this.tab(name, signal));
    roving(tabs, signal);
    for (const name of TABS) {
      setAttribute(panels[name].element, "role", "tabpanel");
      setAttribute(panels[name].element, "aria-labelledby", `${prefix}-tab-${name}`);
    }
    this.element = html("aside", { class: "inspector", "aria-label": "Inspector" }, tabs, failure, this.body);
    this.show("State");
  }

  get openTab(): TabName {
    return this.open;
  }

  show(name: TabName): void {
    this.open = name;
    for (const [each, { element }] of this.buttons) setAttribute(element, "aria-selected", String(each === name));
    this.body.replaceChildren(this.over ?? this.panels[name].element);
    if (this.view !== null) this.panels[name].update(this.view);
  }

  /** Lays something over the open tab; null takes it away. */
  lay(over: HTMLElement | null): void {
    this.over = over;
    this.show(this.open);
  }

  get isCovered(): boolean {
    return this.over !== null;
  }

  update(view: PanelView): void {
    this.view = view;
    const counts = { Waiting: view.state.waiting.length, Breakpoints: view.state.breakpoints.length };
    for (const [name, count] of Object.entries(counts)) {
      const part = this.buttons.get(name as TabName)?.count;
      if (part === undefined) continue;
      setText(part, String(count));
      part.hidden = count === 0;
    }
    if (this.over === null) this.panels[this.open].update(view);
  }

  private tab(name: TabName, signal: AbortSignal): HTMLElement {
    const count = html("em", { hidden: true });
    const element = html("button", { type: "button", role: "tab", id: `${this.prefix}-tab-${name}` }, name, count);
    setAttribute(element, "data-hint-key", TABS.indexOf(name) + 1);
    const choose = () => {
      this.over = null;
      this.show(name);
    };
    element.addEventListener("click", choose, { signal });
    this.buttons.set(name, { element, count });
    return element;
  }
}
