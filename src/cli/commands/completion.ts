import { createError } from "../../errors.js";
import type { Command, CommonArguments } from "../command.js";

interface CompletionArguments extends CommonArguments {
  readonly shell?: string;
}

export const shells = ["bash", "zsh", "fish", "powershell"] as const;

export const completionCommand: Command<CompletionArguments> = {
  usage: "completion [shell]",
  summary: "Print a script that completes commands, flags and values in bash, zsh, fish or PowerShell",
  positionals: {
    shell: { type: "string", describe: "SHELL: bash, zsh, fish or powershell; default: bash", accepts: shells },
  },
  options: {},
  examples: [
    ["completion bash > ~/.local/share/bash-completion/completions/geoferry", "for bash with bash-completion"],
    ["completion bash >> ~/.bashrc", "for bash without it"],
    ["completion zsh > ~/.zfunc/_geoferry", "for zsh, where fpath has ~/.zfunc before compinit runs"],
    ["completion fish > ~/.config/fish/completions/geoferry.fish", "for fish"],
    ["completion powershell >> $PROFILE", "for PowerShell"],
  ],
  async run({ shell = "bash" }) {
    const name = shells.find((one) => one === shell);
    if (name === undefined)
      throw createError("option-invalid", { option: "SHELL", value: shell, expected: `one of ${shells.join(", ")}` });
    const { readScript } = await import("../completion/scripts.js");
    process.stdout.write(readScript(name));
    return 0;
  },
};
