/** Comets along edges just taken: 700 ms, once per crossing, at most 12 at a time; the rest merge into a number. */

import type { WireEvent } from "../protocol/generated.ts";
import type { EdgeView } from "./edge_view.ts";

export const PULSE_MS = 700;
export const MOST_PULSES = 12;

export class Pulses {
  private readonly _running = new Map<string, () => void>();

  constructor(
    private readonly _edgeView: (id: string) => EdgeView | null,
    signal: AbortSignal,
  ) {
    signal.addEventListener("abort", () => this.clear(), { once: true });
  }

  /** Starts a comet for each edge that the events say was taken; an edge that has one already keeps it. */
  show(events: readonly WireEvent[]): void {
    for (const event of events) {
      if (event.type !== "edge_taken" || this._running.has(event.edge) || this._running.size >= MOST_PULSES) continue;
      this._start(event.edge);
    }
  }

  clear(): void {
    for (const end of [...this._running.values()]) end();
  }

  private _start(id: string): void {
    const view = this._edgeView(id);
    if (view === null) return;
    const parts = view.pulse();
    const end = () => {
      clearTimeout(timer);
      this._running.delete(id);
      view.endPulse(parts);
    };
    const timer = setTimeout(end, PULSE_MS);
    this._running.set(id, end);
  }
}
