import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandsOf, parseCodeBlocks } from "../../src/build/docs-site/docs-sandbox.mjs";
import { root } from "./command.js";

const blocks = parseCodeBlocks(readFileSync(join(root, "README.md"), "utf8"));

/**
 * The shell lines of the README that need only the samples, with their exit statuses; neither those that install, nor
 * the service, nor pushes to a map.
 */
export const readmeCommands: readonly { readonly command: string; readonly status: number }[] = blocks.flatMap(
  ({ info, text }) => {
    if (info === "sh")
      return commandsOf(text)
        .map((line) => ({ command: line.replace(/\s+#.*$/, ""), status: 0 }))
        .filter(({ command }) => !command.startsWith("geoferry serve"));
    if (info !== "console" || text.includes("--map")) return [];
    const status = Number(/^\$ echo \$\?\n(\d+)$/m.exec(text)?.[1] ?? 0);
    return [...text.matchAll(/^\$ (geoferry .+)$/gm)].map(([, command]) => ({ command: command!, status }));
  },
);
