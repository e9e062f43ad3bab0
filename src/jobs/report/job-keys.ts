/** Messages name flags of the command line. In a job they name keys of its file: `sourceCrs: EPSG:25832`. */
import {
  conversionOptions,
  indexByFlag,
  mapOptions,
  networkOptions,
  rewriteOptionNames,
  type ValueFormats,
} from "../../pipeline/option-names.js";
import type { Finding } from "./findings.js";
import type { ErrorReport, ItemReport } from "./run-report.js";

const options = indexByFlag([...Object.values(conversionOptions), ...mapOptions, ...networkOptions]);

/** Of YAML, in one line. */
const toYamlValue: ValueFormats = {
  text: (value) => value,
  number: (value) => value,
  limit: (value) => value,
  texts: (value) => value,
  members: (name, value) => `{ ${name}: ${value} }`,
};

/** A sentence with keys of a step, or of its map, in place of flags; other flags stay, and so do whole commands. */
export const replaceFlagsByKeys = (sentence: string): string =>
  rewriteOptionNames(sentence, options, ({ job }) => job, toYamlValue);

const replaceFlagsInFindings = (list: readonly Finding[]): readonly Finding[] =>
  list.map((finding) => ({ ...finding, example: replaceFlagsByKeys(finding.example) }));

const replaceFlagsInError = (error: ErrorReport | null): ErrorReport | null =>
  error && { ...error, message: replaceFlagsByKeys(error.message) };

export const replaceFlagsInItem = (item: ItemReport): ItemReport => ({
  ...item,
  error: replaceFlagsInError(item.error),
  losses: replaceFlagsInFindings(item.losses),
  notices: replaceFlagsInFindings(item.notices),
  gaps: replaceFlagsInFindings(item.gaps),
  changes: item.changes.map((change) =>
    change.example === undefined ? change : { ...change, example: replaceFlagsByKeys(change.example) },
  ),
});
