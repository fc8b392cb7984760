/** What the debugger says aloud: what happened in the run, what changed in the session, what a command answered. */

import type { GraphIndex } from "../core/index_graph.ts";
import { narrate, type Speech } from "../core/narrate.ts";
import type { WireEvent } from "../protocol/generated.ts";
import { Voice } from "../view/voice.ts";

const MOST_UNTOLD = 400; // a hidden page catches up with no more than this

export class DebuggerVoice {
  readonly element: HTMLElement;
  private readonly _voice: Voice;
  private _untold: WireEvent[] = [];
  private _speeches: Speech[] = [];

  constructor(
    private readonly _index: () => GraphIndex | null,
    signal: AbortSignal,
  ) {
    this._voice = new Voice(() => this._tell(), signal);
    this.element = this._voice.element;
  }

  take(events: readonly WireEvent[]): void {
    if (events.length === 0) return;
    this._untold = [...this._untold, ...events].slice(-MOST_UNTOLD);
    this._voice.stir();
  }

  say(...speeches: readonly Speech[]): void {
    if (speeches.length === 0) return;
    this._speeches.push(...speeches);
    this._voice.stir();
  }

  /** One text for each urgency. Stops and failures are told by the session's state. */
  private _tell(): Speech[] {
    const index = this._index();
    const events = this._untold.splice(0).filter((event) => event.type !== "run_paused" && event.type !== "run_failed");
    const all = [...(index === null ? [] : narrate(events, index)), ...this._speeches.splice(0)];
    return [false, true].flatMap((assertive) => {
      const text = all
        .filter((one) => one.assertive === assertive)
        .map((one) => one.text)
        .join(" ");
      return text === "" ? [] : [{ text, assertive }];
    });
  }
}
