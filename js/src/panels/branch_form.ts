/** A new name for a branch, over the inspector. */

import type { WireBranch } from "../protocol/generated_debugging.ts";
import { button } from "../view/controls.ts";
import { html, on } from "../view/dom.ts";
import type { Desk } from "./desk.ts";

export function branchForm(branch: WireBranch, desk: Desk, close: () => void): HTMLElement {
  const field = html("input.field", { "aria-label": "Name of the branch", value: branch.name, maxlength: 60 });
  const apply = async () => {
    const name = field.value.trim();
    if (name !== "" && (await desk.send({ type: "name_branch", branch: branch.id, name }))) close();
  };
  on(field, "keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Enter") void apply();
    else close();
  });
  const buttons = html(
    "div.form-buttons",
    button("Apply", () => void apply(), { key: "⏎", className: "outline" }),
    button("Cancel", close, { key: "Esc" }),
  );
  const label = html("label.entry", html("span.dim", `Name of branch ${branch.name}`), field);
  return html("section.over.naming", label, buttons);
}
