/** The entry that anywidget loads for the debugger. */

import { DebugSession } from "../bridge/debug_session.ts";
import { DebuggerView } from "./debugger_view.ts";
import { entry } from "./entry.ts";

export default entry(
  (model, signal) => new DebugSession(model, signal),
  (session, signal) => new DebuggerView(session, signal),
);
