/** What the panels of the debugger are given: what to show, and how to ask for something. */

import type { CommandBody, Reply } from "../bridge/channel.ts";
import type { Snapshot, WireNode } from "../protocol/generated.ts";
import type { DebugState } from "../protocol/generated_debugging.ts";

export interface PanelView {
  readonly state: DebugState;
  readonly snapshot: Snapshot;
  readonly nodes: readonly WireNode[];
  readonly names: (id: string) => string;
  /** No kernel answers: what would ask it is left out. */
  readonly saved: boolean;
}

export interface Desk {
  /** Asks; the answer, or null while the kernel is still at work on it. */
  ask(command: CommandBody): Promise<Reply | null>;
  /** Asks, and shows a refusal in the bar. True unless it was refused. */
  send(command: CommandBody): Promise<boolean>;
  say(text: string): void;
  /** The node that commands mean: the one chosen in the graph. */
  readonly chosen: string | null;
  choose(node: string): void;
}

export interface Panel {
  readonly element: HTMLElement;
  update(view: PanelView): void;
}
