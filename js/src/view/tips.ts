/** Tooltips of buttons: what one does or why it can't be used, with its key. They come after a moment's rest of the pointer
 * or of the keyboard's focus, and stay inside the view. */

import { atEnd } from "../core/ending.ts";
import { html, on } from "./dom.ts";

const REST_MS = 400;
const GAP = 7;

export class Tips {
  readonly element = html("div.tip", { role: "tooltip", hidden: true });
  private _timer: ReturnType<typeof setTimeout> | null = null;
  private _over: HTMLElement | null = null;

  constructor(
    private readonly _root: HTMLElement,
    signal: AbortSignal,
  ) {
    _root.append(this.element);
    on(_root, "pointerover", (event) => this._enter(hinted(event.target)), signal);
    on(_root, "pointerleave", () => this._enter(null), signal);
    on(_root, "pointerdown", () => this._enter(null), signal);
    on(_root, "focusin", (event) => this._focus(event.target), signal);
    on(_root, "focusout", () => this._enter(null), signal);
    on(_root, "keydown", () => this._enter(null), signal, true);
    atEnd(signal, () => this._enter(null));
  }

  private _focus(target: EventTarget | null): void {
    const byKeys = target instanceof Element && target.matches(":focus-visible");
    if (byKeys) this._enter(hinted(target));
  }

  private _enter(part: HTMLElement | null): void {
    if (part === this._over && part !== null) return;
    this._over = part;
    if (this._timer !== null) clearTimeout(this._timer);
    this._timer = null;
    this.element.hidden = true;
    if (part !== null) this._timer = setTimeout(() => this._show(part), REST_MS);
  }

  private _show(part: HTMLElement): void {
    this._timer = null;
    const words = part.dataset.hint ?? "";
    const key = part.dataset.hintKey ?? "";
    if (words === "" || !part.isConnected) return;
    this.element.replaceChildren(words, ...(key === "" ? [] : [html("kbd", key)]));
    this.element.hidden = false;
    this._place(part);
  }

  private _place(part: HTMLElement): void {
    const frame = this._root.getBoundingClientRect();
    const at = part.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = at.left - frame.left + at.width / 2 - width / 2;
    const below = at.bottom - frame.top + GAP;
    const top = below + height > frame.height - 4 ? at.top - frame.top - height - GAP : below;
    this.element.style.left = `${Math.round(Math.max(6, Math.min(left, frame.width - width - 8)))}px`;
    this.element.style.top = `${Math.round(top)}px`;
  }
}

function hinted(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[data-hint]") : null;
}
