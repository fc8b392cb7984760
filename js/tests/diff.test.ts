import { describe, expect, it } from "vitest";
import { diffText, growth } from "../src/core/text_diff.ts";
import { childRows } from "../src/core/tree_diff.ts";
import type { ValueChild } from "../src/protocol/generated_debugging.ts";

const MARKS = { same: "", del: "-", ins: "+" } as const;
const show = (a: string, b: string) =>
  diffText(a, b)
    .map(({ kind, text }) => (kind === "same" ? text : `[${MARKS[kind]}${text}]`))
    .join("");

describe("the difference of two texts", () => {
  it("marks words that went and came", () => {
    expect(show("the cat sat", "the dog sat")).toBe("the [-cat][+dog] sat");
    expect(show("a b", "a b c")).toBe("a b[+ c]");
  });

  it("joins changes that only white space or a stop parts", () => {
    expect(show("one two three", "eins zwei drei")).toBe("[-one two three][+eins zwei drei]");
  });

  it("says nothing changed where nothing did", () => {
    expect(show("same", "same")).toBe("same");
    expect(show("", "")).toBe("");
  });

  it.each([
    ["a b c d e f", "a x c y e z"],
    ["", "new"],
    ["old", ""],
    ["tax.py, line 41. Then", "tax/rate.py, line 4. Now then"],
    ["line\n  two", "line\n  three\nfour"],
    ["ein Käse 🧀 hier", "ein Brot 🍞 hier"],
  ])("gives both texts back: %j and %j", (before, after) => {
    const pieces = diffText(before, after);
    const without = (kind: "del" | "ins") =>
      pieces
        .filter((piece) => piece.kind !== kind)
        .map((piece) => piece.text)
        .join("");
    expect(without("ins")).toBe(before);
    expect(without("del")).toBe(after);
  });

  it("takes long texts without hanging, the common ends aside", () => {
    const words = (seed: number) => Array.from({ length: 4000 }, (_, i) => `w${(i * seed) % 97}`).join(" ");
    const pieces = diffText(`begin ${words(3)} end`, `begin ${words(5)} end`);
    expect(pieces[0]?.text.startsWith("begin")).toBe(true);
    expect(pieces.at(-1)?.text.endsWith("end")).toBe(true);
  });
});

describe("the growth of a number", () => {
  it.each([
    ["1204", "1611", "+407"],
    ["3", "1", "−2"],
    ["0.1", "0.3", "+0.2"],
    ["1", "1", ""],
    ["None", "3", ""],
    ["'a'", "'b'", ""],
  ])("from %s to %s is %j", (before, after, said) => {
    expect(growth(before, after)).toBe(said);
  });
});

describe("the children of a value", () => {
  const child = (label: string, text: string): ValueChild => ({
    label,
    path: [label],
    value: { kind: "str", text, cut: false },
    opens: false,
  });
  const list = (...texts: string[]) => texts.map((text, i) => child(`${i}`, text));
  const never = () => false;
  const rows = (now: ValueChild[], before: ValueChild[] | null, opened: (id: string) => boolean = never) =>
    childRows(now, before, opened).map((row) =>
      row.kind === "run" ? `${row.from}–${row.to} (${row.count})` : `${row.change || "="} ${row.child.label}`,
    );

  it("are only listed where nothing is known of before", () => {
    expect(rows(list("a", "b"), null)).toEqual(["= 0", "= 1"]);
  });

  it("fold where they are unchanged, and show what was added", () => {
    expect(rows(list("a", "b", "c", "d"), list("a", "b", "c"))).toEqual(["0–2 (3)", "added 3"]);
  });

  it("stay open where somebody opened them", () => {
    expect(rows(list("a", "b", "c", "d"), list("a", "b", "c"), () => true)).toEqual(["= 0", "= 1", "= 2", "added 3"]);
  });

  it("tell what changed and what went", () => {
    const before = [child("x", "1"), child("y", "2"), child("z", "3")];
    expect(rows([child("x", "1"), child("y", "9")], before)).toEqual(["= x", "changed y", "removed z"]);
  });

  it("may be called like what every object has", () => {
    expect(rows([child("constructor", "1"), child("__proto__", "2")], [child("__proto__", "1")])).toEqual([
      "added constructor",
      "changed __proto__",
    ]);
  });
});
