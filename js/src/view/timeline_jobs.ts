/** The chips of the timeline, one for each place that the layout gives. */

import { sayStep } from "../core/debug_words.ts";
import { formatDuration, listWords, plural } from "../core/format.ts";
import type { Job } from "../core/timeline.ts";
import { stepUse } from "../core/tool_words.ts";
import type { WireStep } from "../protocol/generated_debugging.ts";
import { debugIcon } from "./debug_icons.ts";
import { classes, html, on } from "./dom.ts";
import { stateIcon } from "./glyph.ts";

export interface JobActions {
  goTo(step: number, branch: number): void;
  /** Below zero it is a step, whose inner ones are shown or hidden. */
  unfold(first: number): void;
  live(): void;
}

export function jobElement(
  job: Job,
  names: (id: string) => string,
  liveLook: "paused" | "running" | "waiting",
  actions: JobActions,
): HTMLElement {
  switch (job.kind) {
    case "step":
      return stepChip(job.step, job.here, job.branch, names, actions);
    case "fold": {
      const { fold } = job;
      const words = fold.nodes.map(names).join(fold.nodes.length > 2 ? " → " : " ⇄ ");
      const steps = fold.first % 1 ? "" : `: steps ${fold.first} to ${fold.last}`;
      const title = `${plural(fold.rounds, "round")} folded${steps}. Click to unfold.`;
      const failed = fold.cells.some((cell) => cell.steps.some((step) => step.status === "failed"));
      const sign = failed ? stateIcon("failed") : debugIcon("loop");
      return chip(
        classes("fold", failed && "failed"),
        title,
        () => actions.unfold(fold.first),
        sign,
        words,
        "",
        "",
        `×${fold.rounds}`,
      );
    }
    case "lanes": {
      const title = listWords(job.steps.map((step) => names(step.node)));
      const first = job.steps[0];
      const go = () => first !== undefined && actions.goTo(first.number, job.branch);
      return chip("lanes", title, go, null, `+ ${plural(job.steps.length, "lane")}`, "");
    }
    case "ghost":
      return chip(
        "ghost",
        "What would run from here, on a new branch",
        null,
        null,
        `${listWords(job.nodes.map(names))} would run`,
        "",
      );
    case "live": {
      const words = listWords(job.nodes.map(names));
      return chip(`live ${liveLook}`, `Live: ${words}, ${liveLook}`, actions.live, stateIcon(liveLook), words, "");
    }
  }
}

function stepChip(
  step: WireStep,
  here: boolean,
  branch: number,
  names: (id: string) => string,
  actions: JobActions,
): HTMLElement {
  const look = step.status === "pinned" ? "edited" : step.status;
  const title = `${sayStep(step, names)} · ${formatDuration(step.duration_s)}`;
  const className = classes(look === "edited" ? "done by-hand" : look, here && "here", step.effect && "effect");
  const go = () => {
    if (step.inside) actions.unfold(-step.number);
    actions.goTo(step.number, branch);
  };
  const end = shortTime(step.duration_s);
  const count = step.inside ? `${step.inside} inside` : "";
  return chip(className, title, go, stateIcon(look), names(step.node), end, stepUse(step), count);
}

function chip(
  look: string,
  title: string,
  press: (() => void) | null,
  sign: SVGSVGElement | null,
  words: string,
  end: string,
  use = "",
  count = "",
): HTMLElement {
  // How much is folded always shows; how long a step took and what it called only where there is room.
  const element = html(
    "button",
    { type: "button", class: `job ${look}`, tabindex: -1, title, "aria-label": title },
    html("span.who", sign, html("span.cut", words), count === "" ? null : html("em", count)),
    use === "" ? null : html("em.use", use),
    end === "" ? null : html("em", end),
  );
  if (press !== null) on(element, "click", press);
  return element;
}

/** Seconds without their unit, as short as they can be. */
function shortTime(seconds: number): string {
  if (seconds < 99.95) return seconds.toFixed(1);
  return seconds < 5999 ? `${Math.round(seconds / 60)}m` : `${Math.round(seconds / 3600)}h`;
}
