import type { Command, CommonArguments } from "../command.js";

interface HelpArguments extends CommonArguments {
  readonly command: readonly string[];
}

export const helpCommand: Command<HelpArguments> = {
  usage: "help [command..]",
  summary: "Show all commands, or the flags and examples of one",
  positionals: { command: { type: "string", array: true, describe: "COMMAND", accepts: "command" } },
  options: {},
  examples: [
    ["help convert", "same as geoferry convert --help"],
    ["help admin map add", "show a command with several words"],
  ],
  async run({ command }) {
    const { formatHelp } = await import("../help.js");
    process.stdout.write(formatHelp(command, process.stdout));
    return 0;
  },
};
