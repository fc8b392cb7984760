/** Look-ups over a graph that never changes while it is drawn: nodes and edges by id, who follows whom. */

import type { WireEdge, WireGraph, WireLayout, WireNode } from "../protocol/generated.ts";
import { visible } from "./text.ts";

export interface GraphIndex {
  readonly graph: WireGraph;
  readonly nodes: ReadonlyMap<string, WireNode>;
  readonly edges: ReadonlyMap<string, WireEdge>;
  readonly outgoing: ReadonlyMap<string, readonly WireEdge[]>;
  readonly incoming: ReadonlyMap<string, readonly WireEdge[]>;
  /** Ids of nodes that are drawn as a frame with others inside; a folded sub-graph is an ordinary box. */
  readonly groups: ReadonlySet<string>;
}

export function indexGraph(graph: WireGraph, layout: WireLayout): GraphIndex {
  return {
    graph,
    nodes: new Map(graph.nodes.map((node) => [node.id, node])),
    edges: new Map(graph.edges.map((edge) => [edge.id, edge])),
    outgoing: groupBy(graph.edges, (edge) => edge.source),
    incoming: groupBy(graph.edges, (edge) => edge.target),
    groups: new Set(
      graph.nodes.flatMap((node) =>
        node.parent === null || !Object.hasOwn(layout.boxes, node.id) ? [] : [node.parent],
      ),
    ),
  };
}

/** Names, or names of the nodes, of these ids; an id that the graph doesn't know stands for itself. */
export function nameOf(index: GraphIndex, id: string): string {
  return visible(index.nodes.get(id)?.name ?? id);
}

function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}
