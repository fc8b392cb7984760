/** What `check()` found wrong with the graph, and what a run warned of, as a small sign on each node concerned; the
 * details say it in words. */

import { warningsOf } from "../core/tool_words.ts";
import type { NodeState, WireFinding, WireGraph } from "../protocol/generated.ts";
import { svg } from "./dom.ts";
import { GEOMETRY } from "./glyph.ts";

const LEVELS = ["error", "warning", "note"] as const;

/** Each level looks like the state that asks for as much attention. */
export const FINDING_LOOKS: Readonly<Record<WireFinding["level"], string>> = {
  error: "failed",
  warning: "waiting",
  note: "idle",
};

/** The findings about one node, the worst first. */
export function findingsOf(graph: WireGraph, node: string): WireFinding[] {
  const found = graph.findings.filter((finding) => finding.nodes.includes(node));
  return found.sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level));
}

/** The sign on a node's upper left corner: for what was found, and for what the engine warned of while it ran. */
export class FindingSign {
  private _element: SVGElement | null = null;
  private _level: WireFinding["level"] | undefined;

  constructor(
    private readonly _node: SVGElement,
    private readonly _findings: readonly WireFinding[],
  ) {}

  update(state: NodeState | undefined): void {
    const warned = warningsOf(state).length > 0;
    const level = LEVELS.find(
      (one) => (one === "warning" && warned) || this._findings.some((finding) => finding.level === one),
    );
    if (level === this._level) return;
    this._level = level;
    this._element?.remove();
    if (level === undefined) return;
    const { x, y } = GEOMETRY.finding;
    const at = { transform: `translate(${x} ${y})` };
    this._element = svg(`g.finding.${FINDING_LOOKS[level]}`, at, ...findingShapes());
    this._node.append(this._element);
  }
}

function findingShapes(): SVGElement[] {
  const { disc, mark } = GEOMETRY.finding;
  return [svg("path.disc", { d: disc }), svg("path.bang", { d: mark })];
}

/** The same sign in a line of text. */
export function findingIcon(): SVGSVGElement {
  return svg("svg.i", { viewBox: "-8 -8 16 16", "aria-hidden": "true" }, ...findingShapes());
}

/** The findings as the end of what is said of a node. */
export function sayFindings(findings: readonly WireFinding[]): string {
  return findings.map(({ level, what }) => `; ${level}: ${what}`).join("");
}
