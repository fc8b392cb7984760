/** The menu of a node, on a right click: the same commands as the keys, at the pointer, inside the view. */

import { button } from "./controls.ts";
import { html, on } from "./dom.ts";

export interface MenuItem {
  readonly label: string;
  readonly key: string;
  readonly refused?: string;
  readonly run: () => void;
}

export class Menu {
  readonly element = html("div.menu", { role: "menu", hidden: true });
  private _back: HTMLElement | SVGElement | null = null;

  constructor(
    private readonly _root: HTMLElement,
    signal: AbortSignal,
  ) {
    _root.append(this.element);
    on(this.element, "keydown", (event) => this._press(event), signal);
    on(this.element, "focusout", (event) => this._left(event), signal);
    on(
      _root.ownerDocument,
      "pointerdown",
      (event) => !this.element.contains(event.target as Node) && this.close(),
      signal,
      true,
    );
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  /** Opens at a point of the page; the focus goes to the first item, and back to `from` afterwards. */
  open(title: string, items: readonly MenuItem[], at: { x: number; y: number }, from: HTMLElement | SVGElement): void {
    this._back = from;
    this.element.setAttribute("aria-label", title);
    this.element.replaceChildren(...items.map((item) => this._item(item)));
    this.element.hidden = false;
    const frame = this._root.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    this.element.style.left = `${Math.max(4, Math.min(at.x - frame.left, frame.width - width - 6))}px`;
    this.element.style.top = `${Math.max(4, Math.min(at.y - frame.top, frame.height - height - 6))}px`;
    this._items()[0]?.focus();
  }

  close(): boolean {
    if (!this.isOpen) return false;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.hidden = true;
    if (hadFocus) this._back?.focus({ preventScroll: true });
    return true;
  }

  private _item({ label, key, refused, run }: MenuItem): HTMLElement {
    const chosen = () => {
      this.close();
      run();
    };
    const element = button(label, chosen, { key, refused: refused ?? "" });
    element.setAttribute("role", "menuitem");
    return element;
  }

  private _items(): HTMLElement[] {
    return [...this.element.querySelectorAll<HTMLElement>("button")];
  }

  private _press(event: KeyboardEvent): void {
    const all = this._items();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (event.key === "Escape") this.close();
    else if (to !== undefined) all.at(to % all.length)?.focus();
    else if (event.key !== "Tab") return;
    event.stopPropagation();
    if (event.key !== "Tab") event.preventDefault();
  }

  private _left(event: FocusEvent): void {
    if (event.relatedTarget !== null && !this.element.contains(event.relatedTarget as Node)) this.close();
  }
}
