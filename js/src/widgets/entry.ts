/** What anywidget loads, made from a session and a view: the same for every view of ours. */

import type { AnyWidget, InitializeProps, RenderProps } from "@anywidget/types";
import type { Model } from "../bridge/channel.ts";

type Cleanup = () => void;

interface View {
  readonly element: HTMLElement;
  /** Draws for the first time, once the element is in the page. */
  start(): void;
}

/**
 * A function, so that each widget has a session of its own, shared by its views, even where a host loads one module
 * for several widgets.
 *
 * @param connect Begins a session that lives as long as the signal.
 * @param show Makes one more view of a session.
 */
export function entry<S>(
  connect: (model: Model, signal: AbortSignal) => S,
  show: (session: S, signal: AbortSignal) => View,
) {
  return (() => {
    let session: S | null = null;

    return {
      initialize({ model, signal }: InitializeProps): Cleanup {
        const life = lifetime(signal);
        session = connect(model, life.signal);
        return () => life.abort();
      },
      render({ model, el, signal }: RenderProps): Cleanup {
        const life = lifetime(signal);
        // A host that knows no `initialize` gets a session with its first view.
        session ??= connect(model, life.signal);
        const view = show(session, life.signal);
        el.append(view.element);
        life.signal.addEventListener("abort", () => view.element.remove(), { once: true });
        view.start();
        return () => life.abort();
      },
    };
  }) satisfies AnyWidget;
}

/** Older hosts hand over no signal and call the returned function instead; both end the same things. */
function lifetime(signal: AbortSignal | undefined): AbortController {
  const own = new AbortController();
  signal?.addEventListener("abort", () => own.abort(), { once: true });
  return own;
}
