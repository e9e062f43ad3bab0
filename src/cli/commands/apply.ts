import type { Command } from "../command.js";
import type { RunArguments } from "../run-sync.js";
import { serviceOptions } from "../service-options.js";
import { text } from "../source-options.js";
import { stateOption } from "../sync-options.js";
import { writingOptions } from "./push.js";

export interface ApplyArguments extends RunArguments {
  readonly plan: string;
  readonly rejects?: string;
}

export const applyCommand: Command<ApplyArguments> = {
  usage: "apply <plan>",
  summary: "Carry out a plan, as long as input and map are what they were when it was made",
  positionals: { plan: { type: "string", describe: "PLAN, a file that geoferry plan -o wrote", demandOption: true } },
  options: {
    yes: writingOptions.yes,
    backup: writingOptions.backup,
    rejects: {
      ...text,
      describe: "Where features go that the service refuses",
      defaultDescription: "PLAN.rejects.geojsonl",
    },
    ...serviceOptions,
    ...stateOption,
  },
  examples: [["apply places.plan", "what geoferry plan -o places.plan showed"]],
  async run(args) {
    const { runApply } = await import("../run-apply.js");
    return runApply(args);
  },
};
