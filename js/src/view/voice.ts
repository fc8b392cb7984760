/** Speaks through live regions: one polite, one assertive, both out of sight. Waits a moment to merge what comes fast. */

import { atEnd } from "../core/ending.ts";
import type { Speech } from "../core/narrate.ts";
import { html } from "./dom.ts";

const REST_MS = 400;

export class Voice {
  readonly element: HTMLElement;
  private readonly _polite = html("div", { role: "status", "aria-live": "polite" });
  private readonly _assertive = html("div", { role: "alert", "aria-live": "assertive" });
  private _timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly _gather: () => readonly Speech[],
    signal: AbortSignal,
  ) {
    this.element = html("div.unseen", this._polite, this._assertive);
    atEnd(signal, () => this._timer !== null && clearTimeout(this._timer));
  }

  /** Something happened: soon it will be asked what to say about it. */
  stir(): void {
    this._timer ??= setTimeout(() => {
      this._timer = null;
      for (const speech of this._gather()) this._say(speech);
    }, REST_MS);
  }

  private _say(speech: Speech): void {
    (speech.assertive ? this._assertive : this._polite).textContent = speech.text;
  }
}
