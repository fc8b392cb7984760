/** The entry that anywidget loads for the debugger; the same shape as graph.ts. */

import type { AnyWidget, InitializeProps, RenderProps } from "@anywidget/types";
import type { Model } from "../bridge/channel.ts";
import { DebugSession } from "../bridge/debug_session.ts";
import { DebuggerView } from "./debugger_view.ts";
import { type Cleanup, lifetime } from "./lifetime.ts";

export default (() => {
  let session: DebugSession | null = null;

  const connect = (model: Model, signal: AbortSignal) => {
    session = new DebugSession(model, signal);
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
      const view = new DebuggerView(session ?? connect(model, life.signal), life.signal);
      el.append(view.element);
      life.signal.addEventListener("abort", () => view.element.remove(), { once: true });
      view.start();
      return life.end;
    },
  };
}) satisfies AnyWidget;
