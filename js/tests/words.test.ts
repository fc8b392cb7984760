import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { runningSeconds } from "../src/core/follow.ts";
import { formatDuration } from "../src/core/format.ts";
import { indexGraph } from "../src/core/index_graph.ts";
import { toolAtWork } from "../src/core/tool_words.ts";
import { chipOf, headline, sayNode, timeOf } from "../src/core/words.ts";
import { loadStream, STREAM_NAMES } from "./streams.ts";

/** Written by Python's twin, evonb/export/words.py. */
const words: { durations: [number, string][]; [stream: string]: unknown } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, "../../tests/golden/words.json"), "utf8"),
);

describe("the live view and the still picture", () => {
  it.each(words.durations)("say %d seconds alike", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  it.each(STREAM_NAMES)("say the same of %s", (name) => {
    const { end } = loadStream(name);
    const index = indexGraph(end.graph, end.layout);
    const elapsed = end.run.elapsed_s;
    const { look, word } = chipOf(end, false);
    const nodes = Object.fromEntries(
      end.graph.nodes.map((node) => {
        const state = end.nodes[node.id];
        return [node.id, sayNode(node, state, timeOf(state, runningSeconds(end, node.id, elapsed)), index)];
      }),
    );
    const tools = Object.values(end.nodes).map((state) => toolAtWork(state, elapsed));
    const said = { chip: [look, word], headline: headline(end, index, elapsed), nodes };
    expect({ ...said, at_work: tools.filter(Boolean) }).toEqual(words[name]);
  });
});
