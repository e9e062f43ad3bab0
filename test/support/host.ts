import { builtins } from "../../plugins/index.js";
import { convert } from "../../src/pipeline/convert.js";
import type { ConvertReport } from "../../src/pipeline/report.js";
import type { ConvertRequest, Host } from "../../src/pipeline/request.js";
import { Registry } from "../../src/plugin/registry.js";

/** A host with the built-in formats, as on the command line. */
export function createTestHost(signal: AbortSignal = new AbortController().signal): Host {
  const registry = new Registry();
  for (const { module, formats } of builtins) for (const format of formats) registry.add(format, module);
  return { registry, signal, now: new Date("2001-02-03T04:05:06Z") };
}

const host = createTestHost();

/** Runs one conversion on this thread. */
export function convertFile(
  input: string,
  output: string,
  request: Partial<ConvertRequest> = {},
): Promise<ConvertReport> {
  return convert({ inputs: [input], output, workers: 1, ...request }, host);
}
