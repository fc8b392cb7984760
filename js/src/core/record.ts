/**
 * Safe look-ups in records keyed by the user's own names. A node may be called "constructor" or "__proto__", so a
 * plain `record[name]` would find what every object inherits.
 */

type Dict<T> = Readonly<Record<string, T>>;

export function lookUp<T>(record: Dict<T>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Sets an own entry of a record that the caller owns. */
export function put<T>(record: Record<string, T>, key: string, value: T): void {
  Object.defineProperty(record, key, { value, enumerable: true, writable: true, configurable: true });
}

/** A new record with an entry made from each key. */
export function fromKeys<T>(keys: readonly string[], make: (key: string) => T): Record<string, T> {
  const record: Record<string, T> = {};
  for (const key of keys) put(record, key, make(key));
  return record;
}

/** Whether something that came over the wire, or out of a saved notebook, is an object with these members. */
export function has<K extends string>(value: unknown, ...names: readonly K[]): value is Record<K, unknown> {
  return typeof value === "object" && value !== null && names.every((name) => name in value);
}
