/**
 * The entry that anywidget loads. A function, so that each widget has a session of its own, shared by its views, even
 * where a host loads one module for several widgets.
 */

import type { AnyWidget, InitializeProps, RenderProps } from "@anywidget/types";
import type { Model } from "../bridge/channel.ts";
import { Session } from "../bridge/session.ts";
import { GraphView } from "./graph_view.ts";
import { type Cleanup, lifetime } from "./lifetime.ts";

export default (() => {
  let session: Session | null = null;

  const connect = (model: Model, signal: AbortSignal) => {
    session = new Session(model, signal);
    return session;
  };

  return {
    initialize({ model, signal }: InitializeProps): Cleanup {
      const life = lifetime(signal);
      connect(model, life.signal);
      return life.end;
    },
    render({ model, el, signal }: RenderProps): Cleanup {
      const life = lifetime(signal);
      // A host that knows no `initialize` gets a session with its first view.
      const view = new GraphView(session ?? connect(model, life.signal), life.signal);
      el.append(view.element);
      life.signal.addEventListener("abort", () => view.element.remove(), { once: true });
      view.start();
      return life.end;
    },
  };
}) satisfies AnyWidget;
