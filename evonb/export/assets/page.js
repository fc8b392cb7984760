// Zoom and pan of a saved page. Without it the page still shows the picture, and scrolls.
(() => {
  const root = document.querySelector(".evo");
  const stage = root.querySelector(".stage");
  const picture = stage.querySelector("svg");
  const shown = root.querySelector(".zoom output");
  const whole = picture.viewBox.baseVal;
  const size = { w: whole.width, h: whole.height };
  const pad = 12;
  let scale = 1, x = 0, y = 0, touched = false;

  const draw = () => {
    picture.setAttribute("viewBox", `${-x / scale} ${-y / scale} ${stage.clientWidth / scale} ${stage.clientHeight / scale}`);
    shown.textContent = `${Math.round(scale * 100)} %`;
  };
  const place = (wanted) => {
    scale = wanted;
    x = (stage.clientWidth - size.w * scale) / 2;
    // A picture higher than the stage begins at its top: reading starts there.
    y = Math.max(pad, (stage.clientHeight - size.h * scale) / 2);
    draw();
  };
  const fit = (most) => place(Math.min(most, (stage.clientWidth - 2 * pad) / size.w, (stage.clientHeight - 2 * pad) / size.h));
  const zoom = (by, atX = stage.clientWidth / 2, atY = stage.clientHeight / 2) => {
    const next = Math.min(4, Math.max(0.02, scale * by));
    x = atX - ((atX - x) * next) / scale;
    y = atY - ((atY - y) * next) / scale;
    scale = next;
    touched = true;
    draw();
  };
  const moves = { "+": () => zoom(1.25), "=": () => zoom(1.25), "-": () => zoom(0.8), 0: () => place(1), f: () => fit(4),
    ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0), ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60) };
  const pan = (dx, dy) => { x += dx; y += dy; touched = true; draw(); };

  root.classList.add("moves");
  picture.removeAttribute("width");
  picture.removeAttribute("height");
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const step = event.deltaMode === 1 ? 16 : 1;
    const at = stage.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(-event.deltaY * step * 0.004), event.clientX - at.left, event.clientY - at.top);
    else pan(-event.deltaX * step, -event.deltaY * step);
  }, { passive: false });
  const fingers = new Map();
  stage.addEventListener("pointerdown", (event) => {
    if (event.target.closest(".zoom")) return;
    fingers.set(event.pointerId, event);
    stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const other = [...fingers.values()].find((finger) => finger.pointerId !== event.pointerId);
    fingers.set(event.pointerId, event);
    if (!other) return pan(event.clientX - before.clientX, event.clientY - before.clientY);
    const apart = (finger) => Math.hypot(finger.clientX - other.clientX, finger.clientY - other.clientY);
    const at = stage.getBoundingClientRect();
    if (apart(before) > 0) zoom(apart(event) / apart(before), other.clientX - at.left, other.clientY - at.top);
  });
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, (event) => fingers.delete(event.pointerId));
  document.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(moves, key)) return;
    event.preventDefault();
    moves[key]();
  });
  for (const button of root.querySelectorAll(".zoom button")) button.addEventListener("click", () => moves[button.dataset.key]());
  const refit = () => (touched ? draw() : fit(1));
  new ResizeObserver(refit).observe(stage);
  refit();
})();
