/** The debugger's own keys. They come before the graph's, and never out of a field that takes letters. */

import { type DebugAction, debugActionOf } from "../core/debug_keys.ts";
import { takesText } from "../view/controls.ts";
import { on } from "../view/dom.ts";

/**
 * @param inner Everything inside the view: keys pressed in its fields stay there.
 * @param perform False if the action means nothing now and the key belongs to others.
 */
export function listenForDebugKeys(
  root: HTMLElement,
  inner: HTMLElement,
  perform: (action: DebugAction) => boolean,
  signal: AbortSignal,
): void {
  const shield = (event: KeyboardEvent) => {
    if (takesText(event.target) && event.key !== "Escape") event.stopPropagation();
  };
  const press = (event: KeyboardEvent) => {
    if (takesText(event.target)) return;
    const action = debugActionOf(event);
    if (action === null || !perform(action)) return;
    event.preventDefault();
    // Keys of the graph hang on the same element and come after.
    event.stopImmediatePropagation();
  };
  on(inner, "keydown", shield, signal);
  on(root, "keydown", press, signal);
}
