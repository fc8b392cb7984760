/** Speaks through live regions: one polite, one assertive, both out of sight. Waits a moment to merge what comes fast. */

import type { Speech } from "../core/narrate.ts";
import { html } from "./dom.ts";

const REST_MS = 400;

export class Voice {
  readonly element: HTMLElement;
  private readonly polite = html("div", { role: "status", "aria-live": "polite" });
  private readonly assertive = html("div", { role: "alert", "aria-live": "assertive" });
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly gather: () => readonly Speech[],
    signal: AbortSignal,
  ) {
    this.element = html("div", { class: "unseen" }, this.polite, this.assertive);
    signal.addEventListener("abort", () => this.timer !== null && clearTimeout(this.timer), { once: true });
  }

  /** Something happened: soon it will be asked what to say about it. */
  stir(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      for (const speech of this.gather()) this.say(speech);
    }, REST_MS);
  }

  private say(speech: Speech): void {
    (speech.assertive ? this.assertive : this.polite).textContent = speech.text;
  }
}
