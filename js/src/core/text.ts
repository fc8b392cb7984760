/** Counting and cutting text by code points, as Python does: JavaScript's own length counts UTF-16 units. */

/** The last `count` code points. */
export function tail(text: string, count: number): string {
  if (text.length <= count) return text;
  const points = Array.from(text);
  return points.length <= count ? text : points.slice(-count).join("");
}

/** At most `count` code points; the last is an ellipsis if something was left out. */
export function cut(text: string, count: number): string {
  if (text.length <= count) return text;
  const points = Array.from(text);
  return points.length <= count ? text : `${points.slice(0, count - 1).join("")}…`;
}

/** A name that can be seen: one of nothing but spaces shows them. */
export function visible(name: string): string {
  return name.trim() === "" ? "␣".repeat(Math.max(1, Math.min(8, name.length))) : name;
}
