/** The entry that anywidget loads for a graph. */

import { Session } from "../bridge/session.ts";
import { entry } from "./entry.ts";
import { GraphView } from "./graph_view.ts";

export default entry(
  (model, signal) => new Session(model, signal),
  (session, signal) => new GraphView(session, signal),
);
