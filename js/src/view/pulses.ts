/** Comets along edges just taken: 700 ms, once per crossing, at most 12 at a time; the rest merge into a number. */

import type { WireEvent } from "../protocol/generated.ts";
import type { EdgeView } from "./edge_view.ts";

export const PULSE_MS = 700;
export const MOST_PULSES = 12;

export class Pulses {
  private readonly running = new Map<string, () => void>();

  constructor(
    private readonly edgeView: (id: string) => EdgeView | null,
    signal: AbortSignal,
  ) {
    signal.addEventListener("abort", () => this.clear(), { once: true });
  }

  /** Starts a comet for each edge that the events say was taken; an edge that has one already keeps it. */
  show(events: readonly WireEvent[]): void {
    for (const event of events) {
      if (event.type !== "edge_taken" || this.running.has(event.edge) || this.running.size >= MOST_PULSES) continue;
      this.start(event.edge);
    }
  }

  clear(): void {
    for (const end of [...this.running.values()]) end();
  }

  private start(id: string): void {
    const view = this.edgeView(id);
    if (view === null) return;
    const parts = view.pulse();
    const end = () => {
      clearTimeout(timer);
      this.running.delete(id);
      view.endPulse(parts);
    };
    const timer = setTimeout(end, PULSE_MS);
    this.running.set(id, end);
  }
}
