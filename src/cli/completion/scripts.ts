/**
 * What `geoferry completion SHELL` prints: the files in scripts/. Each calls `geoferry __complete SHELL WORDS... =CURRENT`
 * at every press of Tab; the one of bash gives the line up to the cursor, `COMP_WORDBREAKS` and the columns instead of
 * words. The answer begins with a line of directives:
 *
 *   files    complete names of files, too
 *   nospace  put no blank behind what is completed
 *   list     the values do not begin with what is typed: insert one only where it is the only one
 *
 * Then comes a line for each value: the value, a tab, what it is.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { shells } from "../commands/completion.js";

const extensions = { bash: "bash", zsh: "zsh", fish: "fish", powershell: "ps1" } as const;

export function readScript(shell: (typeof shells)[number]): string {
  const ofBash = createRequire(import.meta.url).resolve("#completion");
  return readFileSync(ofBash.replace(/bash$/, extensions[shell]), "utf8");
}
