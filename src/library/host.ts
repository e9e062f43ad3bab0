import { createError } from "../errors.js";
import type { Host } from "../pipeline/request.js";
import type { Format } from "../plugin/format.js";
import { Registry } from "../plugin/registry.js";
import { markErrors } from "./callbacks.js";

/** Environment of a library call; everything has a default. */
export type CallOptions = Partial<Host>;

type BuiltinFormats = readonly { readonly module: string; readonly formats: readonly Format[] }[];

const neverAborted = new AbortController().signal;

/** The current time, or SOURCE_DATE_EPOCH (seconds since 1970). @throws option-invalid */
function currentDate(): Date {
  const epoch = process.env.SOURCE_DATE_EPOCH;
  if (epoch === undefined || epoch === "") return new Date();
  if (!Number.isFinite(Number(epoch)))
    throw createError("option-invalid", { option: "SOURCE_DATE_EPOCH", value: epoch, expected: "a number of seconds" });
  return new Date(Number(epoch) * 1000);
}

/** Creates the host of a call from the built-in formats and the options of the call. */
export const createHost = (builtins: BuiltinFormats, given: CallOptions): Host => ({
  ...given,
  registry: given.registry ?? createRegistry(builtins),
  signal: given.signal ?? neverAborted,
  now: given.now ?? currentDate(),
  ...(given.onProgress && { onProgress: markErrors(given.onProgress) }),
});

export function createRegistry(builtins: BuiltinFormats): Registry {
  const registry = new Registry();
  for (const { module, formats } of builtins) for (const format of formats) registry.add(format, module);
  return registry;
}
