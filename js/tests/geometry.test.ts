import { describe, expect, it } from "vitest";
import {
  centred,
  detailAt,
  fitScale,
  kept,
  READABLE_SCALE,
  revealing,
  toScreen,
  zoomAbout,
} from "../src/core/camera.ts";
import { headPath, linePath, middleOf } from "../src/core/path.ts";

describe("path", () => {
  const points = [
    [0, 0],
    [0, 40],
    [60, 40],
  ];

  it("has its middle as far from one end as from the other", () => {
    expect(middleOf(points)).toEqual({ x: 10, y: 40 });
    expect(middleOf([[3, 4]])).toEqual({ x: 3, y: 4 });
    expect(middleOf([])).toEqual({ x: 0, y: 0 });
  });

  it("rounds corners and ends before the tip of the arrow", () => {
    expect(linePath(points)).toBe("M0 0L0 33Q0 40 7 40L55 40");
  });

  it("points the arrow the way the last stretch runs", () => {
    expect(headPath(points)).toBe("M60 40L53 43.6L53 36.4Z");
  });

  it("makes corners smaller where there is no room", () => {
    const tight = [
      [0, 0],
      [0, 6],
      [60, 6],
    ];
    expect(linePath(tight)).toBe("M0 0L0 3Q0 6 3 6L55 6");
  });

  it("draws repeated points and single points without NaN", () => {
    expect(linePath([...points, [60, 40]])).toBe(linePath(points));
    expect(linePath([[1, 2]])).toBe("M1 2L1 2");
    expect(headPath([])).toBe("");
  });
});

describe("camera", () => {
  const content = { w: 600, h: 700 };
  const view = { w: 1100, h: 740 };

  it("never enlarges to fit", () => expect(fitScale({ w: 10, h: 10 }, view)).toBe(1));

  it("keeps the strip at the right free", () => {
    const camera = centred(content, view, 1, 366);
    expect(camera.x + content.w).toBeLessThanOrEqual(view.w - 366);
    expect(camera.x).toBeGreaterThan(0);
  });

  it("zooms about the pointer", () => {
    const camera = { scale: 1, x: 20, y: 30 };
    const zoomed = zoomAbout(camera, 2, 120, 130);
    expect(toScreen(zoomed, { x: 100, y: 100, w: 0, h: 0 })).toMatchObject({ x: 120, y: 130 });
  });

  it("never loses the picture", () => {
    const camera = kept({ scale: 1, x: -9000, y: 9000 }, content, view);
    expect(camera.x + content.w).toBeGreaterThan(0);
    expect(camera.y).toBeLessThan(view.h);
  });

  it("moves only as far as it has to", () => {
    const camera = { scale: 1, x: 0, y: 0 };
    expect(revealing(camera, { x: 10, y: 10, w: 100, h: 30 }, view)).toEqual(camera);
    const moved = revealing(camera, { x: 10, y: 900, w: 100, h: 30 }, view);
    expect(moved.x).toBe(0);
    expect(900 + 30 + moved.y).toBeLessThanOrEqual(view.h);
  });

  it("hides names that nobody could read", () => {
    const at = (nodeH: number) => [1, READABLE_SCALE, 0.7, 0.5, 0.4].map((scale) => detailAt(scale, nodeH));
    expect(at(34)).toEqual(["full", "full", "glyphs", "glyphs", "blocks"]);
    expect(at(26)).toEqual(["full", "full", "glyphs", "blocks", "blocks"]);
  });
});
