/**
 * Steps inside of sub-graphs stand between two of the line, so places have numbers in between: 7.0000002 is step 2 inside,
 * made after step 7. Pure.
 */

import type { DebugState, WireStep } from "../protocol/generated_debugging.ts";

const ROOM = 1e7;

/** The place that is shown. */
export function placeShown({ looking, step, inside }: DebugState): number {
  return looking === null ? step : looking + (inside?.number ?? 0) / ROOM;
}

/** What the kernel calls a place: a step, and the one inside after it. */
export function kernelPlace(place: number): { count: number; inside?: number } {
  const count = Math.floor(place);
  return place === count ? { count } : { count, inside: Math.round((place - count) * ROOM) };
}

/** The steps inside of these of the line, by their places; 0 is what hasn't finished. */
export function stepsInside({ inner }: DebugState, owners: readonly number[]): WireStep[] {
  const found = inner.filter((step) => owners.includes(step.owner));
  return found.map((step) => ({ ...step, number: step.number + step.inner / ROOM }));
}
