/** A form from the JSON schema of a graph's inputs, and the values from what was entered. Pure. */

import { lookUp, put } from "./record.ts";

type Schema = Readonly<Record<string, unknown>>;

export interface Field {
  readonly key: string;
  readonly kind: "text" | "number" | "flag" | "choice" | "messages" | "json";
  readonly required: boolean;
  /** In words: "str", "int, 0 or more". */
  readonly expects: string;
  readonly choices: readonly string[];
  /** What stands in the field at first, as text. */
  readonly initial: string;
}

export type Entered =
  | { readonly ok: true; readonly values: Record<string, unknown> }
  | { readonly ok: false; readonly faults: Record<string, string> };

export function fieldsOf(schema: Schema): Field[] {
  const properties = record(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([key, value]) => {
    const field = resolved(record(value), schema);
    const kind = kindOf(key, field);
    return {
      key,
      kind,
      required: required.includes(key),
      expects: expectsOf(field, kind),
      choices: choicesOf(field).map((choice) => text(choice)),
      initial: "default" in field ? text(field.default) : "",
    };
  });
}

/** The values of what was entered; left-out optional fields are left out. Faults by field otherwise. */
export function valuesOf(fields: readonly Field[], entered: Readonly<Record<string, string>>): Entered {
  const values: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const field of fields) {
    const typed = lookUp(entered, field.key) ?? "";
    if (typed.trim() === "" && field.kind !== "flag") {
      if (field.required && field.kind !== "text") put(faults, field.key, "needed");
      else if (field.required) put(values, field.key, "");
      continue;
    }
    const value = valueFrom(field, typed);
    if (value === undefined) put(faults, field.key, `not ${field.expects || "JSON"}`);
    else put(values, field.key, value);
  }
  return Object.keys(faults).length > 0 ? { ok: false, faults } : { ok: true, values };
}

function valueFrom(field: Field, typed: string): unknown {
  switch (field.kind) {
    case "text":
    case "choice":
      return typed;
    case "flag":
      return typed === "true";
    case "number": {
      const number = Number(typed.trim());
      const isInt = !field.expects.startsWith("int") || Number.isInteger(number);
      return Number.isFinite(number) && isInt ? number : undefined;
    }
    case "messages":
      return typed.trim().startsWith("[") ? parsed(typed) : [{ role: "user", content: typed }];
    case "json":
      // What isn't JSON may be a Python literal: the kernel reads it by the key's type, or says what it expects.
      return parsed(typed) ?? typed;
  }
}

function parsed(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return undefined;
  }
}

function kindOf(key: string, schema: Schema): Field["kind"] {
  if (choicesOf(schema).length > 0 && choicesOf(schema).every((one) => typeof one === "string")) return "choice";
  switch (schema.type) {
    case "string":
      return "text";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "flag";
    case "array":
      return key === "messages" ? "messages" : "json";
    default:
      return key === "messages" ? "messages" : "json";
  }
}

function choicesOf(schema: Schema): readonly unknown[] {
  return Array.isArray(schema.enum) ? schema.enum : [];
}

const WORDS: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  array: "list, as JSON",
  object: "dict, as JSON",
};

function expectsOf(schema: Schema, kind: Field["kind"]): string {
  const said = schema.description;
  if (typeof said === "string" && kind !== "messages") return said;
  if (kind === "messages") return "text, or a list of messages as JSON";
  const type = schema.type;
  const word = typeof type === "string" ? (lookUp(WORDS, type) ?? type) : kind === "json" ? "JSON" : "";
  const bounds = [
    "minimum" in schema ? `${text(schema.minimum)} or more` : "",
    "maximum" in schema ? `at most ${text(schema.maximum)}` : "",
  ];
  return [word, ...bounds].filter((part) => part !== "").join(", ");
}

/** Follows a reference, and of "this or null" takes this. */
function resolved(schema: Schema, root: Schema): Schema {
  const reference = schema.$ref;
  if (typeof reference === "string") {
    const target = record(lookUp(record(root.$defs), reference.split("/").at(-1) ?? ""));
    return { ...target, ...schema };
  }
  const options = schema.anyOf;
  if (!Array.isArray(options)) return schema;
  const real = options.map(record).filter((option) => option.type !== "null");
  return real.length === 1 ? { ...resolved(real[0] ?? {}, root), ...schema } : schema;
}

function record(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

function text(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
