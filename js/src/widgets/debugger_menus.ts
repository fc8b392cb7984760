/** What the menus of a node and of a branch offer. */

import { innerStep } from "../core/tools.ts";
import type { DebugState, WireBranch } from "../protocol/generated_debugging.ts";
import type { MenuItem } from "../view/menu.ts";
import type { Aside } from "./debugger_aside.ts";
import type { Commands } from "./debugger_commands.ts";

export function nodeItems(node: string, state: DebugState, commands: Commands, aside: Aside): MenuItem[] {
  const { allowed, breakpoints } = state;
  const has = breakpoints.some((one) => one.kind === "node" && one.node === node);
  const refused = allowed.breakpoint;
  const inner = innerStep(state.waiting.find((one) => one.node === node));
  return [
    ...inner.map(({ type, ...item }) => ({ ...item, refused: allowed[type], run: () => commands.stepInner(type) })),
    { label: has ? "Remove breakpoint" : "Breakpoint", key: "B", refused, run: () => commands.toggleBreakpoint(node) },
    { label: "Breakpoint if…", key: "⇧B", refused, run: () => aside.breakpointForm(node) },
    { label: "Run to here", key: "T", refused: allowed.run_to, run: () => commands.tool("run_to") },
    { label: "Why?", key: "W", run: () => aside.show("Why") },
    { label: "Open", key: "⏎", run: () => aside.open(node) },
  ];
}

export function branchItems(branch: WireBranch, state: DebugState, commands: Commands, aside: Aside): MenuItem[] {
  const current = state.branches.find((one) => one.id === state.branch);
  const own = state.steps.filter((step) => step.branch === branch.id).map((step) => step.number);
  const end = Math.max(branch.from_step ?? 0, ...own);
  const items: MenuItem[] = [
    { label: "Go to its end", key: "", refused: state.allowed.goto, run: () => commands.goTo(end, branch.id) },
    { label: "Name…", key: "", run: () => aside.nameBranch(branch) },
  ];
  if (current !== undefined && current.id !== branch.id) {
    const compare = () => aside.compare(current, branch);
    items.push({ label: `Compare with ${current.name}`, key: "", refused: state.allowed.compare, run: compare });
  }
  return items;
}
