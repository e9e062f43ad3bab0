/**
 * Messages name flags of the command line. For callers of the library they are rewritten: `--source-crs EPSG:25832` becomes
 * `sourceCrs: "EPSG:25832"`.
 */
import { asGeoferryError, createError, GeoferryError } from "../errors.js";
import type { Loss } from "../model/report.js";
import {
  conversionOptions,
  indexByFlag,
  findOptions as namedIn,
  rewriteOptionNames,
  type ValueFormats,
} from "../pipeline/option-names.js";
import type { ConvertReport } from "../pipeline/report.js";
import type { ConvertRequest } from "../pipeline/request.js";
import { findCallbackError } from "./callbacks.js";

const optionsByFlag = indexByFlag(Object.values(conversionOptions));

const valueFormats: ValueFormats = {
  text: (value) => JSON.stringify(value),
  number: (value) => value,
  limit: (value) => JSON.stringify(value),
  texts: (value) => `[${JSON.stringify(value)}]`,
  members: (name, value) => `{ ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${JSON.stringify(value)} }`,
};

/** Replaces flags in a sentence by options of the library; other flags and complete commands are kept. */
export const rewriteFlagsAsOptions = (sentence: string): string =>
  rewriteOptionNames(sentence, optionsByFlag, ({ library }) => library, valueFormats);

/** The options whose flags a sentence mentions. */
export const optionsNamedIn = (sentence: string): (keyof ConvertRequest)[] =>
  namedIn(sentence, optionsByFlag).flatMap(({ library }) => library ?? []);

/**
 * An error as the library throws it: its message names options, and `details.options` lists those that it names, for
 * programs that act on them.
 */
export function toLibraryError(error: unknown): GeoferryError {
  const known = asGeoferryError(error);
  const { code, message, details } = known;
  if ("options" in details) return known;
  const renamed = typeof details.option === "string" ? { option: rewriteFlagsAsOptions(details.option) } : {};
  return new GeoferryError(
    code,
    rewriteFlagsAsOptions(message),
    { ...details, ...renamed, options: optionsNamedIn(message) },
    known,
  );
}

/** What a call throws: the error of a callback unchanged, and any other error as `toLibraryError` has it. */
export function toThrown(error: unknown, signal?: AbortSignal): unknown {
  const callback = findCallbackError(error);
  if (callback) return callback.thrown;
  const known = toLibraryError(error);
  // The error of an aborted operation of Node.js.
  return signal?.aborted && known.code === "internal" ? toLibraryError(createError("interrupted", {}, error)) : known;
}

/** Runs `work` and rethrows its errors with messages that name options of the library; those of callbacks unchanged. */
export async function withLibraryErrors<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toThrown(error, signal);
  }
}

const rewriteLosses = (losses: readonly Loss[]): readonly Loss[] =>
  losses.map((loss) => ({ ...loss, example: rewriteFlagsAsOptions(loss.example) }));

export const rewriteReport = <T extends Pick<ConvertReport, "losses" | "notices">>(report: T): T => ({
  ...report,
  losses: rewriteLosses(report.losses),
  notices: rewriteLosses(report.notices),
});
