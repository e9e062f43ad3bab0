import { builtins } from "../../plugins/index.js";
import { createError } from "../errors.js";
import type { Host, Progress } from "../pipeline/request.js";
import { loadPlugin } from "../plugin/load-plugin.js";
import { Registry } from "../plugin/registry.js";
import { type GridArguments, resolveGrids } from "./options/grid-options.js";
import { type MapInputArguments, mapReader } from "./run/map-inputs.js";
import { interrupted } from "./signals.js";

/** Registers the built-in formats and those of `--plugin`. */
export async function openRegistry(plugins: readonly string[]): Promise<Registry> {
  const registry = new Registry();
  for (const { module, formats } of builtins) for (const format of formats) registry.add(format, module);
  for (const plugin of plugins) {
    const { formats, module } = await loadPlugin(plugin, process.cwd());
    for (const format of formats) registry.add(format, module);
  }
  return registry;
}

/** The current time, or `SOURCE_DATE_EPOCH` (seconds since 1970; reproducible-builds.org). */
export function currentTime(): Date {
  const epoch = process.env.SOURCE_DATE_EPOCH;
  if (epoch === undefined || epoch === "") return new Date();
  const seconds = Number(epoch);
  if (!Number.isFinite(seconds)) {
    throw createError("option-invalid", { option: "SOURCE_DATE_EPOCH", value: epoch, expected: "a number of seconds" });
  }
  return new Date(seconds * 1000);
}

export async function openHost(
  args: MapInputArguments & GridArguments,
  onProgress?: (progress: Progress) => void,
): Promise<Host> {
  return {
    registry: await openRegistry(args.plugin ?? []),
    signal: interrupted,
    now: currentTime(),
    ...(onProgress ? { onProgress } : {}),
    readMap: mapReader(args),
    grids: resolveGrids(args),
  };
}
