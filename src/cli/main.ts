#!/usr/bin/env node
import * as nodeModule from "node:module";
import { listenForClosedPipes, listenForSignals } from "./signals.js";

// Avoids loading the rest for a command that scripts call often.
if (process.argv[2] === "--version" && process.argv.length === 3) {
  const { version } = nodeModule.createRequire(import.meta.url)("geoferry/package.json") as { version: string };
  process.stdout.write(`${version}\n`);
} else {
  listenForSignals();
  listenForClosedPipes();
  enableCompileCache();
  const { runCommandLine } = await import("./run-command-line.js");
  // Exits without waiting for Node to tear down the heap.
  process.exit(await runCommandLine(process.argv.slice(2)));
}

/** Node 22.1 and later cache compiled modules in the temporary folder. */
function enableCompileCache(): void {
  (nodeModule as { enableCompileCache?: () => unknown }).enableCompileCache?.();
}
