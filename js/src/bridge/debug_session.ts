/** One debugger widget, whatever the number of its views: the graph's session, and beside it the state of the panel. */

import { NO_DEBUG } from "../core/debug_blank.ts";
import { DebugStore } from "../core/debug_store.ts";
import { atEnd } from "../core/ending.ts";
import { has } from "../core/record.ts";
import { kernelPlace, placeShown } from "../core/timeline_inside.ts";
import type { Snapshot } from "../protocol/generated.ts";
import type { DebugMessage, DebugState } from "../protocol/generated_debugging.ts";
import { type CommandBody, isSnapshot, type Model, NO_ANSWER, type Reply } from "./channel.ts";
import { Session } from "./session.ts";

/** Commands that set nodes to work: their answer may wait for a node. */
const PATIENT: ReadonlySet<string> = new Set([
  "run",
  "resume",
  "step_wave",
  "step_one",
  "run_to",
  "retry",
  "skip",
  "pin",
]);
const PATIENCE_MS = 15_000;
const HELD_AFTER_MS = 800;

export class DebugSession {
  readonly graph: Session;
  readonly debug = new DebugStore();
  private readonly _watchers = new Set<() => void>();
  private _lateCount = 0;
  private _heardAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly _model: Model,
    readonly signal: AbortSignal,
  ) {
    this._takeTrait();
    this._listen("change:debug", () => this._takeTrait());
    this._listen("msg:custom", (message) => this._receive(message));
    this.graph = new Session(_model, signal);
    this.graph.onLiveness(() => this._askPicture(), signal);
  }

  /** True while a command has waited longer than a kernel that is free would need. */
  get isHeld(): boolean {
    return this._lateCount > 0 && this.graph.liveness !== "saved";
  }

  onHeld(watcher: () => void, signal: AbortSignal): void {
    this._watchers.add(watcher);
    atEnd(signal, () => this._watchers.delete(watcher));
  }

  /** Sends a command. Resolves with the kernel's reply, or with words for a silent kernel; null if the answer is still
   * to come but the kernel is at work on it. */
  async ask(command: CommandBody): Promise<Reply | null> {
    const isPatient = PATIENT.has(command.type);
    const sentAtMs = performance.now();
    const settled = this._watchOver();
    const reply = await this.graph.channel.request(command, isPatient ? PATIENCE_MS : undefined);
    settled();
    const isAtWork = isPatient && !reply.ok && reply.error === NO_ANSWER && this._heardAtMs > sentAtMs;
    return isAtWork ? null : reply;
  }

  /** Counts a command as late once it has waited a while. */
  private _watchOver(): () => void {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this._lateCount += 1;
      this._tell();
    }, HELD_AFTER_MS);
    atEnd(this.signal, () => clearTimeout(timer));
    return () => {
      clearTimeout(timer);
      if (!late) return;
      this._lateCount -= 1;
      this._tell();
    };
  }

  private _tell(): void {
    for (const watcher of [...this._watchers]) watcher();
  }

  private _receive(message: unknown): void {
    this._heardAtMs = performance.now();
    if (isDebugMessage(message)) this.debug.receive(message.state, message.picture);
  }

  /** A trait that was saved by an earlier version may lack what has come since. */
  private _takeTrait(): void {
    const state = this._model.get("debug");
    if (isDebugState(state)) this.debug.offer({ ...NO_DEBUG, ...state }, this._savedPicture());
  }

  private _savedPicture(): Snapshot | null {
    const picture = this._model.get("picture");
    return isSnapshot(picture) ? picture : null;
  }

  /** A page loaded anew has the state but not the picture of the past: going where one stands brings it. */
  private _askPicture(): void {
    const { looking, branch } = this.debug.state;
    if (this.graph.liveness !== "live" || !this.debug.lacksPicture || looking === null) return;
    void this.ask({ type: "goto", ...kernelPlace(placeShown(this.debug.state)), branch });
  }

  private _listen(name: string, callback: (value: unknown) => void): void {
    this._model.on(name, callback);
    atEnd(this.signal, () => this._model.off(name, callback));
  }
}

function isDebugMessage(message: unknown): message is DebugMessage {
  return has(message, "type", "state") && message.type === "debug" && isDebugState(message.state);
}

/** A trait that isn't set yet is an empty object. */
function isDebugState(value: unknown): value is DebugState {
  return has(value, "seq", "allowed", "steps");
}
