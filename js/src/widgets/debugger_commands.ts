/** What the tools, keys and clicks of the debugger do: each asks the kernel for one command, or says why it can't. */

import type { CommandBody, Reply } from "../bridge/channel.ts";
import type { DebugSession } from "../bridge/debug_session.ts";
import { breakpointsOf } from "../core/overlay.ts";
import { kernelPlace } from "../core/timeline_inside.ts";
import { hintOf, type InnerStep, startsRun, TOOLS, type ToolName, whyNot } from "../core/tools.ts";
import { blankDraft, commandOf } from "../panels/breakpoint_form.ts";
import type { Desk } from "../panels/desk.ts";
import type { ReplyError } from "../protocol/generated.ts";
import type { CommandName, DebugState } from "../protocol/generated_debugging.ts";

/** What commands need of the view around them. */
export interface CommandHost {
  names(id: string): string;
  say(text: string, assertive?: boolean): void;
  refuse(error: ReplyError | null): void;
  askInputs(): void;
  chosenChanged(): void;
}

export class Commands implements Desk {
  chosen: string | null = null;

  constructor(
    private readonly _session: DebugSession,
    private readonly _host: CommandHost,
  ) {}

  get state(): DebugState {
    return this._session.debug.state;
  }

  say(text: string): void {
    this._host.say(text);
  }

  choose(node: string): void {
    if (node === this.chosen) return;
    this.chosen = node;
    this._host.chosenChanged();
  }

  ask(command: CommandBody): Promise<Reply | null> {
    return this._session.ask(command);
  }

  async send(command: CommandBody): Promise<boolean> {
    const reply = await this.ask(command);
    const error = reply?.ok === false ? reply.error : null;
    this._host.refuse(error);
    if (error !== null) this._host.say(`${error.what}. ${error.fix}`, true);
    return error === null;
  }

  tool(name: ToolName): void {
    const target = this.chosen === null ? null : this._host.names(this.chosen);
    const tool = TOOLS.find((one) => one?.name === name);
    if (tool && whyNot(name, this.state, target) !== "")
      return this._host.say(`${hintOf(tool, this.state, (id) => this._host.names(id), target)}.`);
    const command = this._commandOf(name);
    if (command !== null) void this.send(command);
  }

  private _commandOf(name: ToolName): CommandBody | null {
    switch (name) {
      case "resume":
        if (!startsRun(this.state)) return { type: "resume" };
        this._host.askInputs();
        return null;
      case "step_back":
        return { type: "step_back", count: 1, branch: null };
      case "step_one":
        return { type: "step_one", task: null };
      case "run_to":
        return this.chosen === null ? null : { type: "run_to", node: this.chosen };
      case "pause":
      case "step_wave":
      case "stop":
        return { type: name };
    }
  }

  stepForward(): void {
    this._move("step_forward", { type: "step_forward", count: 1, branch: null });
  }

  /** @param place A step's number; one between two for a step inside of a sub-graph. */
  goTo(place: number, branch: number | null): void {
    this._move("goto", { type: "goto", ...kernelPlace(place), branch });
  }

  /** Into the chosen sub-graph if it waits, else into the first that does; or out of what was begun. */
  stepInner(type: InnerStep["type"]): void {
    const task = this.state.waiting.find((one) => one.enters && one.node === this.chosen)?.task ?? null;
    this._move(type, { type, task });
  }

  live(): void {
    if (this.state.looking !== null) this._move("live", { type: "live" });
  }

  private _move(name: CommandName, command: CommandBody): void {
    const reason = this.state.allowed[name] ?? "";
    if (reason === "") void this.send(command);
    else this._host.say(`${reason}.`);
  }

  /** Sets a breakpoint before a node, or takes away those that are there. */
  toggleBreakpoint(node: string): void {
    const reason = this.state.allowed.breakpoint;
    if (reason !== "") return this._host.say(`${reason}.`);
    const known = breakpointsOf(this.state, node);
    const name = this._host.names(node);
    if (known.length === 0) {
      void this.send(commandOf(blankDraft(node))).then((ok) => ok && this.say(`Breakpoint before ${name} set.`));
      return;
    }
    const gone = known.map(({ id }) => this.send({ type: "remove_breakpoint", id }));
    void Promise.all(gone).then((all) => all.every(Boolean) && this.say(`Breakpoint at ${name} removed.`));
  }
}
