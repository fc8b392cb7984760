import { describe, expect, it } from "vitest";
import { formatCount, formatDuration, listWords, ordinal, plural, speakDuration } from "../src/core/format.ts";
import { cut } from "../src/core/text.ts";

describe("format", () => {
  it.each([
    [0, "0 ms"],
    [0.012, "12 ms"],
    [0.0994, "99 ms"],
    [0.0995, "0.1 s"],
    [3.14, "3.1 s"],
    [59.94, "59.9 s"],
    [59.96, "1 m 00 s"],
    [64, "1 m 04 s"],
    [3599.6, "1 h 00 m"],
    [7384, "2 h 03 m"],
    [-1, "0 ms"],
  ])("%d seconds are %s", (seconds, words) => {
    expect(formatDuration(seconds).replaceAll("\u00a0", " ")).toBe(words);
  });

  it("speaks durations in words", () => {
    expect(speakDuration(0.001)).toBe("1 millisecond");
    expect(speakDuration(2.3)).toBe("2.3 seconds");
    expect(speakDuration(64)).toBe("1 minute 4 seconds");
  });

  it("tells one from many", () => {
    expect([plural(1, "node"), plural(0, "node"), plural(1200, "node")]).toEqual(["1 node", "0 nodes", "1,200 nodes"]);
  });

  it("orders", () => {
    expect([1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal).join(" ")).toBe("1st 2nd 3rd 4th 11th 12th 13th 21st 112th");
  });

  it("lists", () => {
    expect(listWords([])).toBe("");
    expect(listWords(["a"])).toBe("a");
    expect(listWords(["a", "b", "c"])).toBe("a, b and c");
  });

  it("groups thousands the same in every browser", () => expect(formatCount(1204)).toBe("1,204"));

  it("cuts by code points and says that it did", () => {
    expect(cut("🧠🧠🧠", 3)).toBe("🧠🧠🧠");
    expect(cut("🧠🧠🧠🧠", 3)).toBe("🧠🧠…");
  });
});
