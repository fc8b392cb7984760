/** What differs between two texts, word by word, for the diff of a step. Pure. */

export interface Piece {
  readonly kind: "same" | "del" | "ins";
  readonly text: string;
}

const MOST_CELLS = 250_000; // of the table; beyond it the middle is shown as replaced

/** Pieces that give the old text without "ins" and the new one without "del". */
export function diffText(before: string, after: string): Piece[] {
  const a = words(before);
  const b = words(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let foot = 0;
  while (foot < a.length - head && foot < b.length - head && a[a.length - 1 - foot] === b[b.length - 1 - foot]) foot++;
  const middle = diffWords(a.slice(head, a.length - foot), b.slice(head, b.length - foot));
  const same = (parts: readonly string[]): Piece => ({ kind: "same", text: parts.join("") });
  return joined([same(a.slice(0, head)), ...middle, same(a.slice(a.length - foot))]);
}

function words(text: string): string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

function diffWords(a: readonly string[], b: readonly string[]): Piece[] {
  if (a.length * b.length > MOST_CELLS) return [del(a.join("")), ins(b.join(""))];
  const table = lengths(a, b);
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      pieces.push({ kind: "same", text: a[i] ?? "" });
      i++;
      j++;
    } else if (at(table, i + 1, j) >= at(table, i, j + 1)) pieces.push(del(a[i++] ?? ""));
    else pieces.push(ins(b[j++] ?? ""));
  }
  return [...pieces, del(a.slice(i).join("")), ins(b.slice(j).join(""))];
}

/** Lengths of the longest common run of words from each pair of places to the ends. */
function lengths(a: readonly string[], b: readonly string[]): Uint16Array[] {
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    const row = table[i];
    if (row === undefined) continue;
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
  }
  return table;
}

function at(table: readonly Uint16Array[], i: number, j: number): number {
  return table[i]?.[j] ?? 0;
}

function del(text: string): Piece {
  return { kind: "del", text };
}

function ins(text: string): Piece {
  return { kind: "ins", text };
}

/**
 * Neighbours of one kind become one piece, what was deleted stands before what was put in, and a gap without a word
 * between two changes belongs to them: words struck and put in by turns can't be read.
 */
function joined(pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = [];
  let gone = "";
  let come = "";
  const flush = () => {
    if (gone !== "") out.push(del(gone));
    if (come !== "") out.push(ins(come));
    gone = "";
    come = "";
  };
  pieces.forEach((piece, i) => {
    if (piece.text === "") return;
    const next = pieces.slice(i + 1).find((one) => one.text !== "");
    const isThin = piece.kind === "same" && !/[\p{L}\p{N}]/u.test(piece.text);
    const isGap = isThin && gone + come !== "" && next?.kind !== "same";
    if (piece.kind === "del" || (isGap && next !== undefined)) gone += piece.text;
    if (piece.kind === "ins" || (isGap && next !== undefined)) come += piece.text;
    if (piece.kind !== "same" || (isGap && next !== undefined)) return;
    flush();
    const last = out.at(-1);
    if (last?.kind === "same") out[out.length - 1] = { kind: "same", text: last.text + piece.text };
    else out.push(piece);
  });
  flush();
  return out;
}

/** How much a number grew: "+407"; "" if either isn't one. */
export function growth(before: string, after: string): string {
  const [a, b] = [toNumber(before), toNumber(after)];
  if (a === null || b === null || a === b) return "";
  const by = Math.round((b - a) * 1e6) / 1e6;
  return by > 0 ? `+${by.toLocaleString("en-US")}` : `−${Math.abs(by).toLocaleString("en-US")}`;
}

function toNumber(text: string): number | null {
  return /^-?[\d_]+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text.replaceAll("_", "")) : null;
}
