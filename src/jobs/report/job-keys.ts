/** Messages name command-line flags. In reports of jobs, keys of the job file replace them: `sourceCrs: EPSG:25832`. */
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

/** One line of YAML. */
const toYamlValue: ValueFormats = {
  text: (value) => value,
  number: (value) => value,
  limit: (value) => value,
  texts: (value) => value,
  members: (name, value) => `{ ${name}: ${value} }`,
};

/** Replaces flags that have a key in a job file; other flags and whole commands stay. */
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
  skippedRanges: replaceFlagsInFindings(item.skippedRanges),
  regressions: item.regressions.map((change) =>
    change.example === undefined ? change : { ...change, example: replaceFlagsByKeys(change.example) },
  ),
});
