/**
 * The one holder of a widget's snapshot, shared by all its views.
 *
 * Takes whole snapshots and batches of events; a batch that doesn't follow on what it holds asks once for the whole
 * again and drops what comes until that arrives. Listeners get the new snapshot with the events that led to it.
 */

import type { EventsMessage, Snapshot, WireEvent } from "../protocol/generated.ts";
import { atEnd } from "./ending.ts";
import { applyBatch } from "./reduce.ts";

export type StoreListener = (snapshot: Snapshot, events: readonly WireEvent[]) => void;

export class Store {
  private readonly _listeners = new Set<StoreListener>();
  private _resyncing = false;
  /** When the newest change came, on the clock of `now`; the live clocks count on from here. */
  changedAtMs: number;

  /**
   * @param snapshot What is known at the start.
   * @param askResync Called on a gap; the answer comes back through `resynced`.
   * @param now A clock in milliseconds.
   */
  constructor(
    public snapshot: Snapshot,
    private readonly _askResync: () => void,
    private readonly _now: () => number = () => performance.now(),
  ) {
    this.changedAtMs = _now();
  }

  subscribe(listener: StoreListener, signal: AbortSignal): void {
    this._listeners.add(listener);
    atEnd(signal, () => this._listeners.delete(listener));
  }

  /** A batch from the kernel: applied, ignored because it is old, or taken as a sign that something is missing. */
  receive(batch: EventsMessage): void {
    const next = applyBatch(this.snapshot, batch.first_seq, batch.last_seq, batch.events);
    if (next === null) this._gap();
    else if (next !== this.snapshot) this._set(next, batch.events);
  }

  /** A whole that may be older than what batches have made of it since; then it is ignored. */
  offer(snapshot: Snapshot): void {
    if (snapshot.seq >= this.snapshot.seq) this.replace(snapshot);
  }

  /** A whole that holds whatever was known before: the graph was replaced. */
  replace(snapshot: Snapshot): void {
    this._resyncing = false;
    this._set(snapshot, []);
  }

  /** The answer to `askResync`; null if none came, so that the next gap asks again. */
  resynced(snapshot: Snapshot | null): void {
    this._resyncing = false;
    if (snapshot !== null) this.offer(snapshot);
  }

  /** Seconds on the run's clock now; stands still when nothing runs. */
  elapsedS(): number {
    const { status, elapsed_s } = this.snapshot.run;
    return status === "running" ? elapsed_s + (this._now() - this.changedAtMs) / 1000 : elapsed_s;
  }

  private _gap(): void {
    if (this._resyncing) return;
    this._resyncing = true;
    this._askResync();
  }

  private _set(snapshot: Snapshot, events: readonly WireEvent[]): void {
    this.snapshot = snapshot;
    this.changedAtMs = this._now();
    for (const listener of [...this._listeners]) listener(snapshot, events);
  }
}
