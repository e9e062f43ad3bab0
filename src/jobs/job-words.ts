/** Messages name flags of the command line. In a job they name keys of its file: `sourceCrs: EPSG:25832`. */
import {
  byFlag,
  conversionOptions,
  inOptionWords,
  mapOptions,
  networkNames,
  type WrittenValues,
} from "../pipeline/option-names.js";
import type { Finding } from "./findings.js";
import type { ErrorReport, ItemReport } from "./run-report.js";

const options = byFlag([...Object.values(conversionOptions), ...mapOptions, ...networkNames]);

/** Of YAML, in one line. */
const written: WrittenValues = {
  text: (value) => value,
  number: (value) => value,
  limit: (value) => value,
  texts: (value) => value,
  members: (name, value) => `{ ${name}: ${value} }`,
};

/** A sentence with keys of a step, or of its map, in place of flags; other flags stay, and so do whole commands. */
export const inJobKeys = (sentence: string): string => inOptionWords(sentence, options, ({ job }) => job, written);

const findingsIn = (list: readonly Finding[]): readonly Finding[] =>
  list.map((finding) => ({ ...finding, example: inJobKeys(finding.example) }));

const errorIn = (error: ErrorReport | null): ErrorReport | null =>
  error && { ...error, message: inJobKeys(error.message) };

export const itemInJobKeys = (item: ItemReport): ItemReport => ({
  ...item,
  error: errorIn(item.error),
  losses: findingsIn(item.losses),
  notices: findingsIn(item.notices),
  gaps: findingsIn(item.gaps),
  changes: item.changes.map((change) =>
    change.example === undefined ? change : { ...change, example: inJobKeys(change.example) },
  ),
});
