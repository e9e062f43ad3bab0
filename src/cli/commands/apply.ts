import type { Command } from "../command.js";
import { onMap, refusedOption, writingOptions } from "../options/sync-options.js";
import type { RunArguments } from "../run/run-sync.js";

export interface ApplyArguments extends RunArguments {
  readonly plan: string;
  readonly rejects?: string;
}

export const applyCommand: Command<ApplyArguments> = {
  usage: "apply <plan>",
  summary: "Apply a plan, if input and map are unchanged since it was made",
  positionals: {
    plan: { type: "string", describe: "PLAN, a file that geoferry plan -o wrote", demandOption: true, isPath: true },
  },
  options: onMap({
    yes: writingOptions.yes,
    backup: writingOptions.backup,
    ...refusedOption("PLAN"),
  }),
  examples: [["apply places.plan", "apply the plan that geoferry plan -o places.plan saved"]],
  async run(args) {
    const { runApply } = await import("../run/run-apply.js");
    return runApply(args);
  },
};
