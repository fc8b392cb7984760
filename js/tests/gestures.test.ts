import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { listenForGestures } from "../src/view/gestures.ts";

const target = { camera: { scale: 1, x: 10, y: 20 }, zoom: vi.fn(), moveTo: vi.fn() };
let area: HTMLElement;
let canvas: SVGSVGElement;
let life: AbortController;

beforeEach(() => {
  life = new AbortController();
  area = document.body.appendChild(document.createElement("div"));
  canvas = area.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
  canvas.setPointerCapture = () => undefined;
  listenForGestures(area, canvas, target, life.signal);
});

afterEach(() => {
  life.abort();
  area.remove();
  target.zoom.mockClear();
  target.moveTo.mockClear();
});

function pointer(type: string, clientX: number, clientY: number): void {
  canvas.dispatchEvent(new PointerEvent(type, { clientX, clientY, button: 0, pointerId: 1, bubbles: true }));
}

function wheel(init: WheelEventInit): WheelEvent {
  const event = new WheelEvent("wheel", { deltaY: -50, bubbles: true, cancelable: true, ...init });
  // The page's own class doesn't take it over in every version.
  Object.defineProperty(event, "ctrlKey", { value: init.ctrlKey ?? false });
  canvas.dispatchEvent(event);
  return event;
}

describe("gestures", () => {
  it("leave a plain wheel to the notebook", () => {
    expect(wheel({}).defaultPrevented).toBe(false);
    expect(target.zoom).not.toHaveBeenCalled();
  });

  it("zoom with Ctrl, and then the page doesn't", () => {
    expect(wheel({ ctrlKey: true }).defaultPrevented).toBe(true);
    expect(target.zoom.mock.calls[0]?.[0]).toBeGreaterThan(1);
  });

  it("pan by as much as the pointer moved", () => {
    pointer("pointerdown", 100, 100);
    pointer("pointermove", 130, 90);
    expect(target.moveTo).toHaveBeenLastCalledWith(40, 10);
    pointer("pointerup", 130, 90);
    pointer("pointermove", 300, 300);
    expect(target.moveTo).toHaveBeenCalledTimes(1);
  });

  it("take a click that trembles for a click", () => {
    pointer("pointerdown", 100, 100);
    pointer("pointermove", 102, 101);
    pointer("pointerup", 102, 101);
    expect(target.moveTo).not.toHaveBeenCalled();
  });

  it("swallow the click that ends a drag, and no other", async () => {
    const clicked = vi.fn();
    canvas.addEventListener("click", clicked);
    pointer("pointerdown", 100, 100);
    pointer("pointermove", 140, 100);
    pointer("pointerup", 140, 100);
    canvas.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    expect(clicked).not.toHaveBeenCalled();
    await vi.waitFor(() => {
      canvas.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      expect(clicked).toHaveBeenCalled();
    });
  });

  it("end with the view", () => {
    life.abort();
    wheel({ ctrlKey: true });
    expect(target.zoom).not.toHaveBeenCalled();
  });
});
