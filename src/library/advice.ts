/**
 * Messages name flags of the command line, since most of them are read there. For a program that calls the library they
 * are rewritten: `--source-crs EPSG:25832` becomes `sourceCrs: "EPSG:25832"`.
 */
import { asGeoferryError, GeoferryError } from "../errors.js";
import type { Loss } from "../model/report.js";
import {
  byFlag,
  conversionOptions,
  inOptionWords,
  optionsIn as namedIn,
  type WrittenValues,
} from "../pipeline/option-names.js";
import type { ConvertReport } from "../pipeline/report.js";
import type { ConvertRequest } from "../pipeline/request.js";

const options = byFlag(Object.values(conversionOptions));

const written: WrittenValues = {
  text: (value) => JSON.stringify(value),
  number: (value) => value,
  limit: (value) => JSON.stringify(value),
  texts: (value) => `[${JSON.stringify(value)}]`,
  members: (name, value) => `{ ${/^\w+$/.test(name) ? name : JSON.stringify(name)}: ${JSON.stringify(value)} }`,
};

/** A sentence with options of the library in place of flags; other flags stay, and so do whole commands. */
export const inOptions = (sentence: string): string =>
  inOptionWords(sentence, options, ({ library }) => library, written);

/** The options that a sentence with flags speaks of. */
export const optionsIn = (sentence: string): (keyof ConvertRequest)[] =>
  namedIn(sentence, options).flatMap(({ library }) => library ?? []);

/**
 * An error as the library throws it: its message names options, and `details.options` lists those that it names, for
 * programs that act on them.
 */
export function libraryError(error: unknown): GeoferryError {
  const known = asGeoferryError(error);
  const { code, message, details } = known;
  if ("options" in details) return known;
  const renamed = typeof details.option === "string" ? { option: inOptions(details.option) } : {};
  return new GeoferryError(code, inOptions(message), { ...details, ...renamed, options: optionsIn(message) }, known);
}

/** Does something with errors in the words of the library. */
export async function inLibraryWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw libraryError(error);
  }
}

const reworded = (losses: readonly Loss[]): readonly Loss[] =>
  losses.map((loss) => ({ ...loss, example: inOptions(loss.example) }));

export const reportInOptions = <T extends Pick<ConvertReport, "losses" | "notices">>(report: T): T => ({
  ...report,
  losses: reworded(report.losses),
  notices: reworded(report.notices),
});
