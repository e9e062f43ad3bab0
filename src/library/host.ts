import { fault } from "../errors.js";
import type { Host } from "../pipeline/request.js";
import type { Format } from "../plugin/format.js";
import { Registry } from "../plugin/registry.js";

/** What a call of the library runs in; everything has a default. */
export type CallOptions = Partial<Host>;

type Builtins = readonly { readonly module: string; readonly formats: readonly Format[] }[];

const never = new AbortController().signal;

/** Now, or what SOURCE_DATE_EPOCH says (seconds since 1970). @throws option-invalid */
function now(): Date {
  const epoch = process.env.SOURCE_DATE_EPOCH;
  if (epoch === undefined || epoch === "") return new Date();
  if (!Number.isFinite(Number(epoch)))
    throw fault("option-invalid", { option: "SOURCE_DATE_EPOCH", value: epoch, expected: "a number of seconds" });
  return new Date(Number(epoch) * 1000);
}

/** Makes the host of a call from the formats that come with geoferry and what the call says. */
export const hostOf = (builtins: Builtins, given: CallOptions): Host => ({
  ...given,
  registry: given.registry ?? registryOf(builtins),
  signal: given.signal ?? never,
  now: given.now ?? now(),
});

export function registryOf(builtins: Builtins): Registry {
  const registry = new Registry();
  for (const { module, formats } of builtins) for (const format of formats) registry.add(format, module);
  return registry;
}

/** The same formats, to which one can be added. */
export function copyOf(registry: Registry): Registry {
  const copy = new Registry();
  for (const format of registry.all()) copy.add(format, registry.moduleOf(format.id));
  return copy;
}
