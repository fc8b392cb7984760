/** Numbers as people say them: "12 ms", "3.1 s", "1 m 04 s", "2nd", "1 token". */

const SPACE = "\u00a0"; // a number doesn't part from its unit at the end of a line

/** A duration that fits in a node: two or three figures. */
export function formatDuration(seconds: number): string {
  const s = Math.max(0, seconds);
  if (s < 0.0995) return `${Math.round(s * 1000)}${SPACE}ms`;
  if (s < 59.95) return `${(Math.round(s * 10) / 10).toFixed(1)}${SPACE}s`;
  if (s < 3599.5) return minutes(Math.round(s));
  return hours(Math.round(s / 60));
}

function minutes(s: number): string {
  return `${Math.floor(s / 60)}${SPACE}m${SPACE}${twoFigures(s % 60)}${SPACE}s`;
}

function hours(m: number): string {
  return `${Math.floor(m / 60)}${SPACE}h${SPACE}${twoFigures(m % 60)}${SPACE}m`;
}

function twoFigures(value: number): string {
  return String(value).padStart(2, "0");
}

/** A duration in words, for the voice of a screen reader. */
export function speakDuration(seconds: number): string {
  if (seconds < 0.0995) return plural(Math.round(seconds * 1000), "millisecond");
  if (seconds < 59.95) return `${seconds.toFixed(1)} seconds`;
  const s = Math.round(seconds);
  return `${plural(Math.floor(s / 60), "minute")} ${plural(s % 60, "second")}`;
}

export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** 1204 as "1,204", whatever the browser's language: the words around it are English. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** "×3"; from a thousand on "×5k", so that it covers nothing else. */
export function visitsBadge(visits: number): string {
  if (visits < 1000) return `×${visits}`;
  return visits < 1_000_000 ? `×${Math.floor(visits / 1000)}k` : `×${Math.floor(visits / 1_000_000)}M`;
}

/** 1st, 2nd, 3rd, 11th. */
export function ordinal(count: number): string {
  const last = count % 100 >= 11 && count % 100 <= 13 ? 0 : count % 10;
  return `${count}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}

/** "a", "a and b", "a, b and c". */
export function listWords(words: readonly string[]): string {
  if (words.length < 2) return words[0] ?? "";
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
