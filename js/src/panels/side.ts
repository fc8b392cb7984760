/** The one place for cards beside the graph, or below it where it is too wide: an opened node, else what broke, else the
 * final state. */

import { html } from "../view/dom.ts";

export const CARD_WIDTH = 366;
export const NARROW_BELOW = 760;

const MARGIN = 12;

export type Place = "beside" | "below";

export class Side {
  readonly element = html("aside.side");
  private _shown: HTMLElement | null = null;

  /** Shows the first card that there is; null for none. True if that changed anything. */
  show(card: HTMLElement | null): boolean {
    if (card === this._shown) return false;
    this.element.replaceChildren(...(card === null ? [] : [card]));
    this._shown = card;
    return true;
  }

  /** Moves the card so that its middle is at this height, as far as it stays whole; null centres it. */
  level(middle: number | null): void {
    const card = this._shown;
    if (card === null) return;
    const room = Math.max(0, this.element.clientHeight - 2 * MARGIN - card.offsetHeight);
    const top = middle === null ? room / 2 : Math.min(room, Math.max(0, middle - MARGIN - card.offsetHeight / 2));
    card.style.setProperty("--top", `${Math.round(top)}px`);
  }

  get isOpen(): boolean {
    return this._shown !== null;
  }
}

/** Beside the graph while it can still be read there. */
export function placeOf(width: number, hasRoom: boolean): Place {
  return width >= NARROW_BELOW && hasRoom ? "beside" : "below";
}
