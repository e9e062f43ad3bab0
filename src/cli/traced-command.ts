/** Runs a command within a span, and sends the spans to a collector. */

import { withSpan } from "../tracing/span.js";
import type { TraceSettings } from "../tracing/trace-settings.js";
import type { ParsedCommand } from "./command.js";
import { printNotice } from "./output/print.js";

/** Commands that run until they are stopped: only their requests and jobs are traced. */
const longRunningCommands = ["serve", "worker"];

/** @returns the exit status */
export async function runTraced(
  { command, args }: ParsedCommand,
  { exporter, unsupported }: TraceSettings,
): Promise<number> {
  const warn = (sentence: string) => printNotice(args, `geoferry: ${sentence}`);
  for (const sentence of unsupported) warn(sentence);
  if (exporter === null) return await command.run(args);
  const name = command.usage.replace(/ [<[].*$/, "");
  const { startTracing } = await import("../tracing/open-telemetry.js");
  await using _tracing = await startTracing(exporter, "geoferry", warn);
  if (longRunningCommands.includes(name)) return await command.run(args);
  const { TRACEPARENT: traceparent, TRACESTATE: tracestate } = process.env;
  const attributes = { "process.executable.name": "geoferry", "process.pid": process.pid };
  return await withSpan(`geoferry ${name}`, { attributes, parent: { traceparent, tracestate } }, async (span) => {
    const status = await command.run(args);
    span.set({ "process.exit.code": status });
    if (status !== 0) span.fail(`exit ${status}`);
    return status;
  });
}
