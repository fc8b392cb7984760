/** Tooltips of buttons: what one does or why it can't be used, with its key. They come after a moment's rest, and at once
 * with the focus of the keyboard; they stay inside the view. */

import { html } from "./dom.ts";

const REST_MS = 400;
const GAP = 7;

export class Tips {
  readonly element = html("div", { class: "tip", role: "tooltip", hidden: true });
  private timer: ReturnType<typeof setTimeout> | null = null;
  private over: HTMLElement | null = null;

  constructor(
    private readonly root: HTMLElement,
    signal: AbortSignal,
  ) {
    root.append(this.element);
    root.addEventListener("pointerover", (event) => this.enter(hinted(event.target), REST_MS), { signal });
    root.addEventListener("pointerleave", () => this.enter(null, 0), { signal });
    root.addEventListener("pointerdown", () => this.enter(null, 0), { signal });
    root.addEventListener("focusin", (event) => this.focus(event.target), { signal });
    root.addEventListener("focusout", () => this.enter(null, 0), { signal });
    root.addEventListener("keydown", () => this.enter(null, 0), { signal, capture: true });
    signal.addEventListener("abort", () => this.enter(null, 0), { once: true });
  }

  private focus(target: EventTarget | null): void {
    const byKeys = target instanceof Element && target.matches(":focus-visible");
    if (byKeys) this.enter(hinted(target), 0);
  }

  private enter(part: HTMLElement | null, restMs: number): void {
    if (part === this.over && part !== null) return;
    this.over = part;
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.element.hidden = true;
    if (part !== null) this.timer = setTimeout(() => this.show(part), restMs);
  }

  private show(part: HTMLElement): void {
    this.timer = null;
    const words = part.dataset.hint ?? "";
    const key = part.dataset.hintKey ?? "";
    if (words === "" || !part.isConnected) return;
    this.element.replaceChildren(words, ...(key === "" ? [] : [html("kbd", {}, key)]));
    this.element.hidden = false;
    this.place(part);
  }

  private place(part: HTMLElement): void {
    const frame = this.root.getBoundingClientRect();
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
