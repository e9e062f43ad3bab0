#!/usr/bin/env node
import * as nodeModule from "node:module";
import { listenForClosedPipes, listenForSignals } from "./signals.js";

// Loading the rest takes longer than the answer.
if (process.argv[2] === "--version" && process.argv.length === 3) {
  const { version } = nodeModule.createRequire(import.meta.url)("geoferry/package.json") as { version: string };
  process.stdout.write(`${version}\n`);
} else {
  listenForSignals();
  listenForClosedPipes();
  enableCompileCache();
  const { runCommandLine } = await import("./run-command-line.js");
  // Node would only take the heap apart before it ends.
  process.exit(await runCommandLine(process.argv.slice(2)));
}

/** Lets Node, from 22.1 on, keep the compiled modules in its cache in the folder for temporary files. */
function enableCompileCache(): void {
  (nodeModule as { enableCompileCache?: () => unknown }).enableCompileCache?.();
}
