/** The commands of the toolbar: their names, keys, and what their tooltips say. Pure. */

import type { CommandName, DebugState, WireWaiting } from "../protocol/generated_debugging.ts";
import { listWords } from "./format.ts";
import { insideWords } from "./overlay.ts";

export type ToolName = "resume" | "pause" | "step_back" | "step_one" | "step_wave" | "run_to" | "stop";

export interface Tool {
  readonly name: ToolName;
  readonly label: string;
  readonly key: string;
  readonly icon: "resume" | "pause" | "back" | "one" | "wave" | "to" | "stop";
}

/** In the order of the toolbar; null is a divider. */
export const TOOLS: readonly (Tool | null)[] = [
  { name: "resume", label: "Resume", key: "R", icon: "resume" },
  { name: "pause", label: "Pause", key: "P", icon: "pause" },
  null,
  { name: "step_back", label: "Step back", key: "[", icon: "back" },
  { name: "step_one", label: "Step one", key: "⇧S", icon: "one" },
  { name: "step_wave", label: "Step wave", key: "S", icon: "wave" },
  { name: "run_to", label: "Run to here", key: "T", icon: "to" },
  null,
  { name: "stop", label: "Stop", key: "⇧X", icon: "stop" },
];

export interface InnerStep {
  readonly type: "step_into" | "step_out";
  readonly label: string;
  readonly key: string;
}

/** How a waiting sub-graph is entered or left, if it is one. */
export function innerStep(task: WireWaiting | undefined): readonly InnerStep[] {
  if (task?.enters) return [{ type: "step_into", label: "Step into", key: "I" }];
  return task?.begun ? [{ type: "step_out", label: "Step out", key: "⇧I" }] : [];
}

/** What the first button does now: it begins a run where there is none to go on with. */
export function startsRun(state: DebugState): boolean {
  return state.looking === null && (state.status === "idle" || state.status === "finished");
}

export function labelOf(tool: Tool, state: DebugState): string {
  if (tool.name !== "resume") return tool.label;
  if (startsRun(state)) return "Run";
  return state.looking === null ? "Resume" : "Resume here";
}

/** Why a tool can't be used now, "" if it can. `target` is the name of the chosen node, for "run to here". */
export function whyNot(name: ToolName, state: DebugState, target: string | null): string {
  const command: CommandName = name === "resume" && startsRun(state) ? "run" : name;
  const reason = state.allowed[command] ?? "";
  if (reason === "" && name === "run_to" && target === null) return "choose a node in the graph first";
  return reason;
}

/** The tooltip: what it would do, or why it can't. */
export function hintOf(tool: Tool, state: DebugState, names: (id: string) => string, target: string | null): string {
  const label = labelOf(tool, state);
  const reason = whyNot(tool.name, state, target);
  if (reason !== "") return reason.toLowerCase().startsWith(`${label.toLowerCase()}:`) ? reason : `${label}: ${reason}`;
  const next = listWords(state.would_run.map(names));
  switch (tool.name) {
    case "resume":
      return resumeHint(state);
    case "pause":
      return "Stop before the next task";
    case "step_back":
      return "Look at the step before; nothing runs";
    case "step_one":
      return `Run one node${next === "" ? "" : ` (${names(state.would_run[0] ?? "")})`}, then stop`;
    case "step_wave":
      return `Run every ready node${next === "" ? "" : ` (${next})`}, then stop`;
    case "run_to":
      return `Run until ${target} is next`;
    case "stop":
      return "End this run; what was recorded stays";
  }
}

function resumeHint(state: DebugState): string {
  if (startsRun(state)) return "Begin a run with the inputs you enter";
  if (state.looking === null) return "Run on to the next breakpoint";
  const branch = state.next_branch === "" ? "" : `, on the new branch ${state.next_branch}`;
  return `Run on from step ${state.looking}${insideWords(state)}${branch}`;
}
