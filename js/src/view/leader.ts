/** The line from a node to what is said about it in the margin. It passes below the nodes and meets none on its way. */

import type { WireBox } from "../protocol/generated.ts";
import { setAttribute, svg } from "./dom.ts";

export class Leader {
  readonly element: SVGGElement;

  constructor(look: string) {
    this.element = svg("g", {}, svg("path", { class: "leader under" }), svg("path", { class: `leader ${look}` }));
  }

  /**
   * @param at The node, on screen.
   * @param others Nodes that the line must not meet, on screen.
   * @param to Where the line ends: a margin's left edge and the height wanted there.
   */
  draw(at: WireBox, others: readonly WireBox[], to: { readonly x: number; readonly y: number }): void {
    const y = freeHeight(at, others, to.x);
    const aside = y > at.y + at.h || y < at.y;
    const start = aside ? `M${at.x + at.w - 16} ${y > at.y ? at.y + at.h : at.y}V${y}` : `M${at.x + at.w + 5} ${y}`;
    const bend = Math.abs(y - to.y) < 1 ? "" : `H${to.x - 12}V${to.y}`;
    for (const path of this.element.children) setAttribute(path, "d", `${start}${bend}H${to.x}`);
  }

  show(visible: boolean): void {
    this.element.style.display = visible ? "" : "none";
  }
}

/** The middle of the node if the way to the right is free there, else just below or above it. */
function freeHeight(at: WireBox, others: readonly WireBox[], toX: number): number {
  const inWay = others.filter((box) => box.x > at.x && box.x < toX);
  const isFree = (y: number) => inWay.every((box) => y < box.y - 3 || y > box.y + box.h + 3);
  const middle = at.y + at.h / 2;
  return [middle, at.y + at.h + 7, at.y - 7].find(isFree) ?? middle;
}
