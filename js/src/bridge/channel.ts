/**
 * The wire to the kernel: commands go out with a request id and come back as a promise, everything else that arrives
 * is handed on. A command that nobody answers ends in words, so a button never just does nothing.
 */

import { atEnd } from "../core/ending.ts";
import { has } from "../core/record.ts";
import type {
  Command,
  EventsMessage,
  KernelMessage,
  NodeDetails,
  ReplyError,
  Snapshot,
  SnapshotMessage,
} from "../protocol/generated.ts";
import type {
  CompareResult,
  DebugCommand,
  EditResult,
  InspectKeyResult,
  WhyResult,
} from "../protocol/generated_debugging.ts";

/** What is used of an anywidget model; small, so that the gallery and the tests can stand in for it. */
export interface Model {
  get(name: string): unknown;
  on(name: string, callback: (message: unknown) => void): void;
  off(name: string, callback: (message: unknown) => void): void;
  send(content: AnyCommand): void;
}

export type AnyCommand = Command | DebugCommand;
export type CommandBody = AnyCommand extends infer C ? (C extends AnyCommand ? Omit<C, "request_id"> : never) : never;
export type Answer = Snapshot | NodeDetails | InspectKeyResult | EditResult | WhyResult | CompareResult | null;
export type Reply = { readonly ok: true; readonly result: Answer } | { readonly ok: false; readonly error: ReplyError };

export const TIMEOUT_MS = 5000;

export const NO_ANSWER: ReplyError = {
  what: `The kernel didn't answer within ${TIMEOUT_MS / 1000} s`,
  where: "",
  fix: "It may be busy in a cell: wait until that cell has finished. If the kernel was restarted, run the cell again.",
};

export class Channel {
  private readonly _pending = new Map<string, (reply: Reply) => void>();
  private _count = 0;
  private readonly _prefix = Math.random().toString(36).slice(2, 8);

  constructor(
    private readonly _model: Model,
    private readonly _onMessage: (message: EventsMessage | SnapshotMessage) => void,
    /** Called for every message, also for an answer that came too late: somebody is there. */
    private readonly _onSign: () => void,
    private readonly _signal: AbortSignal,
  ) {
    const receive = (message: unknown) => this._receive(message);
    _model.on("msg:custom", receive);
    atEnd(_signal, () => _model.off("msg:custom", receive));
  }

  /** Sends a command. Resolves, never rejects: with the kernel's reply, or with the words for a silent kernel. */
  request(command: CommandBody, timeoutMs = TIMEOUT_MS): Promise<Reply> {
    const requestId = `${this._prefix}-${++this._count}`;
    return new Promise((resolve) => {
      const settle = (reply: Reply) => {
        clearTimeout(timer);
        this._pending.delete(requestId);
        resolve(reply);
      };
      const timer = setTimeout(() => settle({ ok: false, error: NO_ANSWER }), timeoutMs);
      atEnd(this._signal, () => clearTimeout(timer));
      this._pending.set(requestId, settle);
      this._send({ ...command, request_id: requestId }, settle);
    });
  }

  private _send(command: AnyCommand, settle: (reply: Reply) => void): void {
    try {
      this._model.send(command);
    } catch (error) {
      settle({ ok: false, error: { ...NO_ANSWER, what: `The command could not be sent: ${String(error)}` } });
    }
  }

  private _receive(message: unknown): void {
    if (!isKernelMessage(message)) return;
    this._onSign();
    if (message.type !== "reply") this._onMessage(message);
    else this._pending.get(message.request_id)?.(message);
  }
}

/** Any client can send to a widget, so the tag is looked at before the rest is believed. */
function isKernelMessage(message: unknown): message is KernelMessage {
  const type = has(message, "type") ? message.type : null;
  return type === "events" || type === "snapshot" || type === "reply";
}

/** A snapshot that this view can draw; a trait that isn't set yet is an empty object. */
export function isSnapshot(value: unknown): value is Snapshot {
  return has(value, "protocol", "graph", "layout");
}
