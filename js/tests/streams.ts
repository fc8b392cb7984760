import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Stream } from "../dev/fake_model.ts";

const FOLDER = path.join(import.meta.dirname, "../../tests/golden/streams");

export const STREAM_NAMES = readdirSync(FOLDER).map((file) => path.basename(file, ".json"));

/** A recording written by tests/golden/make_streams.py. */
export function loadStream(name: string): Stream {
  return JSON.parse(readFileSync(path.join(FOLDER, `${name}.json`), "utf8"));
}
