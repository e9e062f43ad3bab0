/**
 * The scripts that `geoferry completion SHELL` prints, in scripts/. Each runs `geoferry __complete SHELL WORDS... =CURRENT`
 * when Tab is pressed; the bash script passes the line up to the cursor, `COMP_WORDBREAKS` and the columns instead of
 * words. The first line of the output contains directives:
 *
 *   files    complete file names, too
 *   nospace  add no space after the completion
 *   list     values need not start with the typed text: insert a value only if it is the only one
 *
 * Each further line contains a value, a tab and a description.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { shells } from "../commands/completion.js";

const extensions = { bash: "bash", zsh: "zsh", fish: "fish", powershell: "ps1" } as const;

export function readScript(shell: (typeof shells)[number]): string {
  const bashScript = createRequire(import.meta.url).resolve("#completion");
  return readFileSync(bashScript.replace(/bash$/, extensions[shell]), "utf8");
}
