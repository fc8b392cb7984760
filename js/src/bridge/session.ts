/**
 * One widget model, whatever the number of its views: its store, its channel, and whether a kernel answers.
 * Made in `initialize`, ended by its signal.
 */

import { emptySnapshot } from "../core/blank.ts";
import { atEnd } from "../core/ending.ts";
import { Store } from "../core/store.ts";
import { PROTOCOL_VERSION, type Snapshot } from "../protocol/generated.ts";
import { Channel, isSnapshot, type Model } from "./channel.ts";

const NOTHING = emptySnapshot(
  { name: "", nodes: [], edges: [], findings: [] },
  { width: 0, height: 0, boxes: {}, routes: {} },
  -1,
);

/** States of a kernel whose widgets nobody answers any more. */
const GONE = ["dead", "terminating", "restarting", "autorestarting"];
type KernelWatcher = (kernel: unknown, status: unknown) => void;

/** What Jupyter's manager tells beside the model's own interface; other hosts have no such thing. */
interface KernelHolder {
  widget_manager?: {
    kernel?: {
      status?: unknown;
      statusChanged?: { connect?(watcher: KernelWatcher): void; disconnect?(watcher: KernelWatcher): void };
    };
  };
}

export type Liveness = "unknown" | "live" | "saved";

export class Session {
  readonly store: Store;
  readonly channel: Channel;
  private _state: Liveness = "unknown";
  private readonly _watchers = new Set<() => void>();

  constructor(
    private readonly _model: Model,
    readonly signal: AbortSignal,
  ) {
    this.store = new Store(this._trait() ?? NOTHING, () => void this._resync());
    this.channel = new Channel(
      _model,
      (message) => {
        if (message.type === "events") this.store.receive(message);
        else this.store.replace(message.snapshot);
      },
      () => this._setLiveness("live"),
      signal,
    );
    this._listen("change:snapshot", () => this._takeTrait());
    this._listen("comm:close", () => this._setLiveness("saved"));
    this._watchKernel();
    void this._resync();
  }

  get liveness(): Liveness {
    return this._state;
  }

  /** Seconds on the run's clock: counting on while it runs, standing where it stood in a saved view. */
  elapsedS(): number {
    return this._state === "saved" ? this.store.snapshot.run.elapsed_s : this.store.elapsedS();
  }

  /** Set when the notebook was saved by another version of evonb, whose data this view can't read. */
  get foreignProtocol(): number | null {
    const { protocol } = this.store.snapshot;
    return protocol === PROTOCOL_VERSION ? null : protocol;
  }

  onLiveness(watcher: () => void, signal: AbortSignal): void {
    this._watchers.add(watcher);
    atEnd(signal, () => this._watchers.delete(watcher));
  }

  /** Asks the kernel for the whole; also the way to learn whether there is a kernel. */
  private async _resync(): Promise<void> {
    const reply = await this.channel.request({ type: "resync" });
    if (!reply.ok && this._state === "unknown" && !this._kernelIsBusy()) this._setLiveness("saved");
    this.store.resynced(reply.ok && isSnapshot(reply.result) ? reply.result : null);
  }

  /** Jupyter's manager knows its kernel; other hosts have no such thing, and a silent kernel then counts as gone. */
  private _kernelIsBusy(): boolean {
    return (this._model as KernelHolder).widget_manager?.kernel?.status === "busy";
  }

  /** A kernel that dies or starts anew closes no comm: its status is the only sign. */
  private _watchKernel(): void {
    const status = (this._model as KernelHolder).widget_manager?.kernel?.statusChanged;
    if (typeof status?.connect !== "function") return;
    const changed = (_kernel: unknown, now: unknown) => {
      if (GONE.includes(String(now))) this._setLiveness("saved");
    };
    status.connect(changed);
    atEnd(this.signal, () => status.disconnect?.(changed));
  }

  private _takeTrait(): void {
    const snapshot = this._trait();
    if (snapshot !== null) this.store.offer(snapshot);
  }

  private _trait(): Snapshot | null {
    const value = this._model.get("snapshot");
    if (!isSnapshot(value)) return null;
    // Data of another version may have any shape; only its number is looked at.
    return value.protocol === PROTOCOL_VERSION ? value : { ...NOTHING, protocol: value.protocol };
  }

  private _setLiveness(state: Liveness): void {
    if (state === this._state) return;
    this._state = state;
    for (const watcher of [...this._watchers]) watcher();
  }

  private _listen(name: string, callback: () => void): void {
    this._model.on(name, callback);
    atEnd(this.signal, () => this._model.off(name, callback));
  }
}
