/** From corner points to what SVG draws: a path with round corners, the arrow head at its end. Pure. */

import { edge } from "../../../evonb/export/assets/glyphs.json";

export type Points = readonly (readonly number[])[];
interface Point {
  readonly x: number;
  readonly y: number;
}

const { corner_radius: RADIUS, shorten: SHORTEN, head_length: LENGTH, head_half_width: HALF_WIDTH } = edge;

/** The line of an edge; it ends a little early, so that the arrow head's tip stays sharp. */
export function linePath(points: Points): string {
  return roundedPath(points, SHORTEN);
}

/** A path through the points with round corners that ends `short` px early. */
export function roundedPath(points: Points, short = 0): string {
  const corners = shortened(distinct(points), short);
  const first = corners[0];
  const last = corners.at(-1);
  if (first === undefined || last === undefined) return "";
  let d = `M${at(first)}`;
  for (let i = 1; i < corners.length - 1; i++) d += corner(corners[i - 1], corners[i], corners[i + 1]);
  return `${d}L${at(last)}`;
}

/** The triangle at the end, pointing the way the last stretch runs. */
export function headPath(points: Points): string {
  const corners = distinct(points);
  const tip = corners.at(-1);
  const before = corners.at(-2);
  if (tip === undefined || before === undefined) return "";
  const { x: ux, y: uy } = direction(before, tip);
  const left = { x: tip.x - ux * LENGTH - uy * HALF_WIDTH, y: tip.y - uy * LENGTH + ux * HALF_WIDTH };
  const right = { x: tip.x - ux * LENGTH + uy * HALF_WIDTH, y: tip.y - uy * LENGTH - ux * HALF_WIDTH };
  return `M${at(tip)}L${at(left)}L${at(right)}Z`;
}

/** The point that is as far from one end as from the other. */
export function middleOf(points: Points): Point {
  const corners = distinct(points);
  const lengths = corners.slice(1).map((point, i) => distance(corners[i] as Point, point));
  let left = lengths.reduce((sum, length) => sum + length, 0) / 2;
  for (const [i, length] of lengths.entries()) {
    const from = corners[i] as Point;
    const u = direction(from, corners[i + 1] as Point);
    if (left <= length) return { x: from.x + u.x * left, y: from.y + u.y * left };
    left -= length;
  }
  return corners[0] ?? { x: 0, y: 0 };
}

/** Neighbours that differ: a repeated point has no direction. */
function distinct(points: Points): Point[] {
  const out: Point[] = [];
  for (const [x = 0, y = 0] of points) {
    const last = out.at(-1);
    if (last === undefined || Math.abs(last.x - x) + Math.abs(last.y - y) > 0.01) out.push({ x, y });
  }
  return out;
}

function shortened(points: readonly Point[], short: number): Point[] {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (tip === undefined || before === undefined) return [...points];
  const u = direction(before, tip);
  const by = Math.min(short, distance(before, tip));
  return [...points.slice(0, -1), { x: tip.x - u.x * by, y: tip.y - u.y * by }];
}

function corner(from: Point | undefined, at_: Point | undefined, to: Point | undefined): string {
  if (from === undefined || at_ === undefined || to === undefined) return "";
  const radius = Math.min(RADIUS, distance(from, at_) / 2, distance(at_, to) / 2);
  const back = direction(at_, from);
  const on = direction(at_, to);
  const start = { x: at_.x + back.x * radius, y: at_.y + back.y * radius };
  const end = { x: at_.x + on.x * radius, y: at_.y + on.y * radius };
  return `L${at(start)}Q${at(at_)} ${at(end)}`;
}

function distance(a: Point, b: Point): number {
  return Math.hypot(b.x - a.x, b.y - a.y);
}

function direction(from: Point, to: Point): Point {
  const length = distance(from, to) || 1;
  return { x: (to.x - from.x) / length, y: (to.y - from.y) / length };
}

function at(point: Point): string {
  return `${round(point.x)} ${round(point.y)}`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
