/** A kernel for pages without one: replays a recorded stream into a view and answers its commands. */

import type { AnyCommand, Model } from "../src/bridge/channel.ts";
import { applyBatch } from "../src/core/reduce.ts";
import type { Command, EventsMessage, KernelMessage, NodeDetails, Snapshot } from "../src/protocol/generated.ts";

export interface Stream {
  readonly about: string;
  readonly start: Snapshot;
  readonly messages: readonly EventsMessage[];
  readonly end: Snapshot;
}

export class FakeModel implements Model {
  private readonly listeners = new Map<string, Set<(message: unknown) => void>>();
  readonly sent: Command[] = [];
  /** False plays a dead kernel: nothing is answered. */
  answers = true;

  constructor(public snapshot: Snapshot) {}

  get(name: string): unknown {
    return name === "snapshot" ? this.snapshot : undefined;
  }

  on(name: string, callback: (message: unknown) => void): void {
    const set = this.listeners.get(name) ?? new Set();
    this.listeners.set(name, set.add(callback));
  }

  off(name: string, callback: (message: unknown) => void): void {
    this.listeners.get(name)?.delete(callback);
  }

  get listenerCount(): number {
    return [...this.listeners.values()].reduce((sum, set) => sum + set.size, 0);
  }

  send(command: AnyCommand): void {
    if (command.type !== "resync" && command.type !== "inspect_node") return;
    this.sent.push(command);
    if (this.answers) queueMicrotask(() => this.emit("msg:custom", this.reply(command)));
  }

  emit(name: string, message: unknown): void {
    for (const callback of [...(this.listeners.get(name) ?? [])]) callback(message);
  }

  /** One batch from the kernel; what the kernel itself knows moves on with it. */
  publish(message: EventsMessage): void {
    const next = applyBatch(this.snapshot, message.first_seq, message.last_seq, message.events);
    if (next !== null) this.snapshot = next;
    this.emit("msg:custom", message);
  }

  private reply(command: Command): KernelMessage {
    const result = command.type === "resync" ? this.snapshot : this.details(command.node);
    return { type: "reply", request_id: command.request_id, ok: true, result };
  }

  private details(node: string): NodeDetails {
    const { visits = 0, tools = [], stream = "" } = this.snapshot.nodes[node] ?? {};
    const visited = visits > 0;
    return {
      node,
      doc: "",
      source: `def ${node}(state):\n    """Does its part."""\n    return {"findings": look_up(state["topic"])}`,
      location: "cell [3], line 24",
      last_input: visited
        ? { topic: '"billing"', messages: `[${'HumanMessage("Why is VAT charged twice?"), '.repeat(4)}]` }
        : null,
      last_delta: visited ? { findings: '["VAT is added once per line"]' } : null,
      stream: stream && `What was said before. ${stream}`,
      reasoning: tools.length > 0 ? "The customer asks for money back.\nThe order tells how much." : "",
      calls: tools.map(({ id, tool }) => ({ id, arguments: '{"order": 7}', result: `${tool} gave 40 €` })),
    };
  }
}
