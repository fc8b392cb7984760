/** Tooltips of nodes and edges, made when the pointer comes: a thousand of them needn't stand in the document. */

import { on, svg } from "./dom.ts";

export function showTooltips(canvas: SVGSVGElement, signal: AbortSignal): void {
  const title = svg("title");
  const hover = (event: Event) => {
    const part = event.target instanceof Element ? event.target.closest("[data-node], [data-edge]") : null;
    if (part === null) return title.remove();
    title.textContent = part.getAttribute("aria-label") ?? part.getAttribute("data-tip");
    if (title.parentNode !== part) part.prepend(title);
  };
  on(canvas, "pointerover", hover, signal);
  on(canvas, "pointerleave", () => title.remove(), signal);
}
