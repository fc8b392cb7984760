/** A new name for a branch, over the inspector. */

import type { WireBranch } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { html } from "../view/dom.ts";
import type { Desk } from "./desk.ts";

export function branchForm(branch: WireBranch, desk: Desk, close: () => void): HTMLElement {
  const field = html("input", {
    class: "field",
    "aria-label": "Name of the branch",
    value: branch.name,
    maxlength: 60,
  });
  const apply = async () => {
    const name = field.value.trim();
    if (name !== "" && (await desk.send({ type: "name_branch", branch: branch.id, name }))) close();
  };
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Enter") void apply();
    else close();
  });
  const buttons = html(
    "div",
    { class: "form-buttons" },
    button("Apply", () => void apply(), { key: "⏎", className: "outline" }),
    button("Cancel", close, { key: "Esc" }),
  );
  const label = html(
    "label",
    { class: "entry" },
    html("span", { class: "dim" }, `Name of branch ${branch.name}`),
    field,
  );
  return html("section", { class: "over naming" }, label, buttons);
}
