/** A form from a JSON schema, of a graph's inputs or of an answer, and the values from what was entered. Pure. */

import { lookUp, put } from "./record.ts";

type Schema = Readonly<Record<string, unknown>>;

export interface Field {
  readonly key: string;
  readonly kind: "text" | "number" | "flag" | "choice" | "messages" | "json";
  readonly required: boolean;
  /** In words: "str", "int, 0 or more". */
  readonly expects: string;
  /** The words of the choices, and the values that they stand for. */
  readonly choices: readonly string[];
  readonly values: readonly unknown[];
  /** What stands in the field at first, as text. */
  readonly initial: string;
}

export type Entered =
  | { readonly ok: true; readonly values: Record<string, unknown> }
  | { readonly ok: false; readonly faults: Record<string, string> };

/** @param given What the fields hold at first, before the defaults of the schema. */
export function fieldsOf(schema: Schema, given: unknown = null): Field[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const first = record(given);
  return Object.entries(record(schema.properties)).map(([key, value]) => {
    const field = resolved(record(value), schema);
    return fieldOf(key, Object.hasOwn(first, key) ? { ...field, default: first[key] } : field, required.includes(key));
  });
}

/** A form for one value: of an object its fields, of anything else one field, whose key is "". */
export function formOf(schema: Schema, given?: unknown): Field[] {
  const whole = resolved(schema, schema);
  const fields = fieldsOf({ ...schema, ...whole }, given);
  if (fields.length > 0) return fields;
  const isOptional = Array.isArray(whole.anyOf) && whole.anyOf.some((one) => record(one).type === "null");
  return [fieldOf("", given === undefined ? whole : { ...whole, default: given }, !isOptional)];
}

/** The value of a form made by `formOf`. */
export function answerOf(fields: readonly Field[], values: Readonly<Record<string, unknown>>): unknown {
  return fields[0]?.key === "" ? (values[""] ?? null) : values;
}

/** What was wrong with an answer, by field as far as its words name one, the rest under "". */
export function faultsIn(what: string, fields: readonly Field[]): Record<string, string> {
  const faults: Record<string, string> = {};
  const [, told] = /doesn't fit: (.*)$/s.exec(what) ?? [];
  for (const part of told === undefined ? [what] : told.split("; ")) {
    const named = fields.find(({ key }) => key !== "" && new RegExp(`^${escaped(key)}[.:]`).test(part));
    const words = named === undefined ? part.replace(/^answer: /, "") : part.slice(named.key.length + 1).trim();
    const key = named?.key ?? "";
    put(faults, key, [lookUp(faults, key) ?? "", words].filter(Boolean).join("; "));
  }
  return faults;
}

function escaped(key: string): string {
  return key.replace(/[^\w]/g, "\\$&");
}

function fieldOf(key: string, schema: Schema, required: boolean): Field {
  const kind = kindOf(key, schema);
  const values = choicesOf(schema);
  return {
    key,
    kind,
    required,
    expects: expectsOf(schema, kind),
    choices: values.map(choiceWord),
    values,
    initial: "default" in schema ? (kind === "choice" ? choiceWord(schema.default) : text(schema.default)) : "",
  };
}

/** The values of what was entered; left-out optional fields are left out. Faults by field otherwise. */
export function valuesOf(fields: readonly Field[], entered: Readonly<Record<string, string>>): Entered {
  const values: Record<string, unknown> = {};
  const faults: Record<string, string> = {};
  for (const field of fields) {
    const typed = lookUp(entered, field.key) ?? "";
    if (typed.trim() === "" && field.kind !== "flag") {
      // A text that was there and was taken out is an empty one.
      const isText = field.kind === "text" && (field.required || field.initial !== "");
      if (isText) put(values, field.key, "");
      else if (field.required) put(faults, field.key, "needed");
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
      return typed;
    case "choice":
      return field.values[field.choices.indexOf(typed)];
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
  if (choicesOf(schema).length > 0 && choicesOf(schema).every(isPlain)) return "choice";
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
  if (Array.isArray(schema.enum)) return schema.enum;
  return "const" in schema ? [schema.const] : [];
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== "object";
}

function choiceWord(value: unknown): string {
  return value === null ? "none" : text(value);
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
