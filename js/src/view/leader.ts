/** The line from a node to what is said about it in the margin. It passes below the nodes and meets none on its way. */

import { roundedPath } from "../core/path.ts";
import type { WireBox } from "../protocol/generated.ts";
import { setAttribute, svg } from "./dom.ts";

const OUT = 5; // the line begins outside the ring of a running node

export class Leader {
  readonly element: SVGGElement;

  constructor(look: string) {
    this.element = svg("g", svg("path.leader.under"), svg("path", { class: `leader ${look}` }));
  }

  look(look: string): void {
    setAttribute(this.element.lastElementChild as Element, "class", `leader ${look}`);
  }

  /**
   * @param at The node, on screen.
   * @param y Where the line runs, as `leaderHeight` says.
   * @param to Where the line ends: a margin's left edge and the height wanted there.
   */
  draw(at: WireBox, y: number, to: { readonly x: number; readonly y: number }): void {
    const right = at.x + at.w;
    const start = isAside(at, y) ? [right - 16, y > at.y ? at.y + at.h : at.y] : [right + OUT, y];
    const bendX = to.x - 12;
    const bend =
      Math.abs(y - to.y) < 1
        ? []
        : [
            [bendX, y],
            [bendX, to.y],
          ];
    const corner = isAside(at, y) ? [[right - 16, y]] : [];
    const d = roundedPath([start, ...corner, ...bend, [to.x, to.y]]);
    for (const path of this.element.children) setAttribute(path, "d", d);
  }

  show(visible: boolean): void {
    this.element.style.display = visible ? "" : "none";
  }
}

/** The middle of the node if the way from there to `toX` meets no other node, else just below or above the node. */
export function leaderHeight(at: WireBox, others: readonly WireBox[], toX: number): number {
  const inWay = others.filter((box) => box.x > at.x && box.x < toX);
  const isFree = (y: number) => inWay.every((box) => y < box.y - 3 || y > box.y + box.h + 3);
  const middle = at.y + at.h / 2;
  return [middle, at.y + at.h + 7, at.y - 7].find(isFree) ?? middle;
}

function isAside(at: WireBox, y: number): boolean {
  return y < at.y || y > at.y + at.h;
}
