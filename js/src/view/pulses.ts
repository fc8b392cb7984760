/** Comets along edges just taken: 700 ms, once per crossing, at most 12 at a time; the rest merge into a number. */

import { atEnd } from "../core/ending.ts";
import type { WireEvent } from "../protocol/generated.ts";
import type { EdgeView } from "./edge_view.ts";

export const PULSE_MS = 700;
export const MOST_PULSES = 12;

export class Pulses {
  private readonly _comets = new Map<string, () => void>();
  private readonly _tallies = new Map<string, { readonly count: number; readonly end: () => void }>();

  constructor(
    private readonly _edgeView: (id: string) => EdgeView | null,
    signal: AbortSignal,
  ) {
    atEnd(signal, () => this.clear());
  }

  /** Starts a comet for each edge that the events say was taken; where one flies, or too many do, a number grows. */
  show(events: readonly WireEvent[]): void {
    for (const event of events) if (event.type === "edge_taken") this._cross(event.edge, event.count);
  }

  clear(): void {
    for (const end of [...this._comets.values()]) end();
    for (const { end } of [...this._tallies.values()]) end();
  }

  private _cross(id: string, count: number): void {
    const view = this._edgeView(id);
    if (view === null) return;
    const flies = !this._comets.has(id) && this._comets.size < MOST_PULSES;
    if (flies) this._fly(id, view);
    if (count > Number(flies)) this._tally(id, view, count - Number(flies));
  }

  private _fly(id: string, view: EdgeView): void {
    const parts = view.pulse();
    const end = () => {
      clearTimeout(timer);
      this._comets.delete(id);
      view.endPulse(parts);
    };
    const timer = setTimeout(end, PULSE_MS);
    this._comets.set(id, end);
  }

  /** The number stays for as long as a comet flies, from the last crossing that it counts. */
  private _tally(id: string, view: EdgeView, more: number): void {
    const before = this._tallies.get(id);
    before?.end();
    const count = (before?.count ?? 0) + more;
    const end = () => {
      clearTimeout(timer);
      this._tallies.delete(id);
      view.tally(0);
    };
    const timer = setTimeout(end, PULSE_MS);
    this._tallies.set(id, { count, end });
    view.tally(count);
  }
}
