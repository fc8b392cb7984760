import { describe, expect, it } from "vitest";
import { fieldsOf, valuesOf } from "../src/core/form.ts";

const SCHEMA = {
  type: "object",
  properties: {
    messages: { type: "array" },
    topic: { enum: ["billing", "tech"], default: "billing" },
    count: { type: "integer", minimum: 0 },
    rate: { anyOf: [{ type: "number" }, { type: "null" }], default: null },
    strict: { type: "boolean", default: true },
    name: { type: "string", description: "str, at most 20 letters" },
    plan: { $ref: "#/$defs/Plan" },
  },
  required: ["messages", "count"],
  $defs: { Plan: { type: "object" } },
};
const fields = fieldsOf(SCHEMA);
const kinds = Object.fromEntries(fields.map((field) => [field.key, field.kind]));
const entered = (typed: Record<string, string>) => valuesOf(fields, { messages: "hi", count: "1", ...typed });

describe("the fields of a schema", () => {
  it("have the kind that their type asks for", () => {
    expect(kinds).toEqual({
      messages: "messages",
      topic: "choice",
      count: "number",
      rate: "number",
      strict: "flag",
      name: "text",
      plan: "json",
    });
  });

  it("begin with their defaults and say what they expect", () => {
    const by = (key: string) => fields.find((field) => field.key === key);
    expect(by("topic")?.initial).toBe("billing");
    expect(by("strict")?.initial).toBe("true");
    expect(by("rate")?.initial).toBe("");
    expect(by("count")?.expects).toBe("int, 0 or more");
    expect(by("name")?.expects).toBe("str, at most 20 letters");
  });

  it("are none for a schema that says nothing", () => {
    expect(fieldsOf({})).toEqual([]);
    expect(fieldsOf({ properties: "?" })).toEqual([]);
  });
});

describe("the values of what was entered", () => {
  it("leave out what was left empty", () => {
    expect(entered({})).toEqual({
      ok: true,
      values: { messages: [{ role: "user", content: "hi" }], count: 1, strict: false },
    });
  });

  it("have the types of their fields", () => {
    const got = entered({
      topic: "tech",
      rate: "0.5",
      strict: "true",
      name: "007",
      plan: '{"a": [1]}',
      messages: '["x"]',
    });
    expect(got).toEqual({
      ok: true,
      values: { topic: "tech", count: 1, rate: 0.5, strict: true, name: "007", plan: { a: [1] }, messages: ["x"] },
    });
  });

  it("hand over what isn't JSON as it was typed: it may be a Python literal", () => {
    expect(entered({ plan: "{'a': None}" })).toMatchObject({ values: { plan: "{'a': None}" } });
  });

  it("name what is needed and what doesn't fit", () => {
    expect(entered({ count: "" })).toEqual({ ok: false, faults: { count: "needed" } });
    expect(entered({ count: "2.5" })).toEqual({ ok: false, faults: { count: "not int, 0 or more" } });
    expect(entered({ rate: "much" })).toEqual({ ok: false, faults: { rate: "not float" } });
  });
});
