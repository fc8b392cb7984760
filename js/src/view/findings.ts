/** What `check()` found wrong with the graph, as a small sign on each node concerned; the details say it in words. */

import type { WireFinding, WireGraph } from "../protocol/generated.ts";
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

/** The sign on a node's upper left corner; null if nothing was found. */
export function findingSign(findings: readonly WireFinding[]): SVGElement | null {
  const [worst] = findings;
  if (worst === undefined) return null;
  const { x, y } = GEOMETRY.finding;
  return svg(
    "g",
    { class: `finding ${FINDING_LOOKS[worst.level]}`, transform: `translate(${x} ${y})` },
    ...findingShapes(),
  );
}

export function findingShapes(): SVGElement[] {
  const { disc, mark } = GEOMETRY.finding;
  return [svg("path.disc", { d: disc }), svg("path.bang", { d: mark })];
}

/** The findings as the end of what is said of a node. */
export function sayFindings(findings: readonly WireFinding[]): string {
  return findings.map(({ level, what }) => `; ${level}: ${what}`).join("");
}
