/** The one place for cards beside the graph, or below it where it is too wide: an opened node, else what broke, else the
 * final state. */

import { html } from "../view/dom.ts";

export const CARD_WIDTH = 366;
export const NARROW_BELOW = 760;

export type Place = "beside" | "below";

export class Side {
  readonly element = html("aside", { class: "side" });
  private shown: HTMLElement | null = null;

  /** Shows the first card that there is; null for none. True if that changed anything. */
  show(card: HTMLElement | null): boolean {
    if (card === this.shown) return false;
    this.element.replaceChildren(...(card === null ? [] : [card]));
    this.shown = card;
    return true;
  }

  get isOpen(): boolean {
    return this.shown !== null;
  }
}

/** Beside the graph while it can still be read there. */
export function placeOf(width: number, hasRoom: boolean): Place {
  return width >= NARROW_BELOW && hasRoom ? "beside" : "below";
}
