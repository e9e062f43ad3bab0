#!/usr/bin/env node
import { createRequire } from "node:module";
import { listenForSignals } from "./signals.js";

// Loading the rest takes longer than the answer.
if (process.argv[2] === "--version" && process.argv.length === 3) {
  const { version } = createRequire(import.meta.url)("geoferry/package.json") as { version: string };
  process.stdout.write(`${version}\n`);
} else {
  listenForSignals();
  const { run } = await import("./run.js");
  process.exitCode = await run(process.argv.slice(2));
}
