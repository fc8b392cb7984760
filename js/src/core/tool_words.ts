/** The words of tool calls and tokens. Pure. */

import type { NodeState, WireToolCall } from "../protocol/generated.ts";
import type { WireStep } from "../protocol/generated_debugging.ts";
import { formatCount, formatDuration, listWords, plural } from "./format.ts";
import { cut, visible } from "./text.ts";

/** Pictures that were saved earlier know no calls and no warnings. */
export function callsOf(state: NodeState | undefined): readonly WireToolCall[] {
  return state?.tools ?? [];
}

export function warningsOf(state: NodeState | undefined): readonly string[] {
  return state?.warnings ?? [];
}

/** "asked for pay, called find (0.4 s) and read ×2" */
export function calledWords(calls: readonly WireToolCall[]): string {
  const asked = toolNames(calls.filter((call) => call.status === "asked"));
  const made = toolNames(calls.filter((call) => call.status !== "asked"));
  return [asked && `asked for ${asked}`, made && `called ${made}`].filter(Boolean).join(", ");
}

/** Each tool once, in the order of its first call. */
function toolNames(calls: readonly WireToolCall[]): string {
  const byName = new Map<string, WireToolCall[]>();
  for (const call of calls) byName.set(call.tool, [...(byName.get(call.tool) ?? []), call]);
  return listWords([...byName].map(([name, those]) => toolName(visible(name), those)));
}

/** How often a tool was called, or how its only call stands. */
function toolName(name: string, calls: readonly WireToolCall[]): string {
  const failed = calls.filter((call) => call.status === "failed").length;
  if (calls.length > 1) return `${name} ×${calls.length}${failed === 0 ? "" : ` (${failed} failed)`}`;
  const aside = calls[0] === undefined ? "" : callAside(calls[0]);
  return aside === "" ? name : `${name} (${aside})`;
}

/** How a call stands: its time once it is over, unless it failed. */
export function callAside({ status, duration_s }: WireToolCall): string {
  if (status === "failed" || status === "running") return status;
  return status === "asked" || duration_s === null ? "" : formatDuration(duration_s);
}

/** "used 876 tokens", "" where no model was asked or its server doesn't say. */
export function usedWords({ tokens_in, tokens_out }: NodeState): string {
  return tokens_in + tokens_out > 0 ? `used ${plural(tokens_in + tokens_out, "token")}` : "";
}

/** "812 in, 64 out, 1.3 s, in 2 visits": what a node's models took in this run, "" where none was asked. */
export function tokenWords({ tokens_in, tokens_out, model_s, visits }: NodeState): string {
  if (!(model_s > 0 || tokens_in + tokens_out > 0)) return "";
  const counted = tokens_in + tokens_out > 0;
  const tokens = counted ? `${formatCount(tokens_in)} in, ${formatCount(tokens_out)} out` : "not counted by the server";
  return `${tokens}, ${formatDuration(model_s)}${visits > 1 ? `, in ${visits} visits` : ""}`;
}

/** "find, read ×2 · 876 tokens": what a step called and used. */
export function stepUse({ tools, tokens }: WireStep): string {
  const counts = new Map<string, number>();
  for (const tool of tools ?? []) counts.set(tool, (counts.get(tool) ?? 0) + 1);
  const names = [...counts].map(([tool, count]) => (count > 1 ? `${visible(tool)} ×${count}` : visible(tool)));
  return [names.join(", "), tokens ? plural(tokens, "token") : ""].filter(Boolean).join(" · ");
}

/** "search, 0.4 s": the tool that a node at work waits for, "" if there is none. */
export function toolAtWork(state: NodeState | undefined, elapsedS: number): string {
  const calls = state?.status === "running" ? callsOf(state).filter((call) => call.status === "running") : [];
  const [first] = calls;
  if (first === undefined) return "";
  const more = calls.length > 1 ? ` + ${calls.length - 1}` : "";
  const spent = first.started_s === null ? "" : `, ${formatDuration(elapsedS - first.started_s)}`;
  return `${cut(visible(first.tool), 14)}${more}${spent}`;
}
