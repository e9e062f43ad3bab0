/** Messages in the words of the library and of job files, and the table of options that they come from. */
import { expect, test } from "vitest";
import { convertCommand } from "../../src/cli/commands/convert.js";
import { pushCommand } from "../../src/cli/commands/push.js";
import { runCommand } from "../../src/cli/commands/run.js";
import { mapInputOptions } from "../../src/cli/run/map-inputs.js";
import { stepFile } from "../../src/jobs/file/schema.js";
import { replaceFlagsByKeys } from "../../src/jobs/report/job-keys.js";
import { optionsNamedIn, rewriteFlagsAsOptions } from "../../src/library/rewrite-messages.js";
import { conversionOptions, mapOptions } from "../../src/pipeline/option-names.js";

test.each([
  [
    "name it with --source-crs, or carry it with --no-reproject",
    "name it with sourceCrs, or carry it with reproject: false",
  ],
  ["say --source-crs EPSG:25832 or --accuracy 8", 'say sourceCrs: "EPSG:25832" or accuracy: 8'],
  ["--from gdal:S57 reads it", 'from: "gdal:S57" reads it'],
  ["set --in encoding=cp850; see", 'set readerOptions: { encoding: "cp850" }; see'],
  ["use --overwrite to replace it", "use overwrite: true to replace it"],
  ["more than --max-rejects 5% of them", 'more than maxRejects: "5%" of them'],
  ["more than --max-losses 3, --on-name-clash number", 'more than maxLosses: "3", onNameClash: "number"'],
  ["--strict: the target cannot hold everything", "strict: true: the target cannot hold everything"],
  ["run --port 0, or -v; a--from-b", "run --port 0, or -v; a--from-b"],
  ["--mode full is of maps", "--mode full is of maps"],
])("flags in messages become options of the library: %s", (flags, options) => {
  expect(rewriteFlagsAsOptions(flags)).toBe(options);
});

test.each([
  [
    "name it with --source-crs, such as --source-crs EPSG:25832, or carry it with --no-reproject",
    "name it with sourceCrs, such as sourceCrs: EPSG:25832, or carry it with reproject: false",
  ],
  ["take --layer a, set --in encoding=cp850; see", "take layer a, set in: { encoding: cp850 }; see"],
  ["--max-delete 27 lets it pass, --max-update 5% as well", "maxDelete: 27 lets it pass, maxUpdate: 5% as well"],
  ["use --mode incremental or --mode append", "use mode: incremental or mode: append"],
  ["--on-missing-key reject leaves them out", "onMissingKey: reject leaves them out"],
  ["--on-duplicate first or last", "onDuplicate: first or last"],
  ["--keep-unmanaged leaves them", "keepUnmanaged: true leaves them"],
  ["--profile north, --wait 5, --state DIR, --if-newer", "--profile north, --wait 5, --state DIR, --if-newer"],
])("flags in messages become keys of a job: %s", (flags, keys) => {
  expect(replaceFlagsByKeys(flags)).toBe(keys);
  expect(replaceFlagsByKeys(keys)).toBe(keys);
});

test.each([
  "get it with geoferry grids fetch --target-crs EPSG:25832 in.shp; then run it again",
  "run geoferry check --layer roads in.gpkg, or geoferry info -v",
  "geoferry push in.csv --mode full",
])("a whole command in a message is unchanged: %s", (sentence) => {
  expect(replaceFlagsByKeys(sentence)).toBe(sentence);
  expect(rewriteFlagsAsOptions(sentence)).toBe(sentence);
});

test("text after a command is rewritten", () => {
  expect(replaceFlagsByKeys("run geoferry check x.shp; omit --strict")).toBe(
    "run geoferry check x.shp; omit strict: true",
  );
});

test("the options in a sentence are listed once", () => {
  expect(optionsNamedIn("--from X or --to Y or --from Z, --port")).toEqual(["from", "to"]);
  expect(optionsNamedIn("run geoferry check --layer roads in.gpkg; or omit --strict")).toEqual(["strict"]);
});

/** Flags of the command line alone. */
const ofTerminal = ["plugin", "json", "quiet", "verbose", "help", "version", "yes", "dry-run"];
const ofGrids = Object.keys(convertCommand.options).filter((name) => /grid/.test(name) && name !== "grid");

const flagsOf = (options: object, others: readonly string[]): string[] =>
  Object.keys(options)
    .filter((name) => ![...ofTerminal, ...ofGrids, ...others].includes(name))
    .sort();

const schema = stepFile.schema as {
  readonly properties: Readonly<Record<string, { readonly anyOf?: readonly object[] }>>;
};
const keysOfStep = Object.keys(schema.properties);
const keysOfMap = Object.keys(
  (schema.properties.target!.anyOf!.find((one) => "properties" in one) as { readonly properties: object }).properties,
);

test("the table holds each flag of convert", () => {
  const known = Object.values(conversionOptions).map(({ flag }) => flag);
  // Of maps as inputs, which the library reads through `readMap`, and of the protocol, which the command writes.
  expect(known.sort()).toEqual(flagsOf(convertCommand.options, [...Object.keys(mapInputOptions), "report"]));
  for (const [key, { library }] of Object.entries(conversionOptions)) expect(library).toBe(key);
});

test("the table holds each flag of push that a job has a key for", () => {
  const ofService = Object.keys(runCommand.options);
  const known = [...Object.values(conversionOptions), ...mapOptions].map(({ flag }) => flag);
  expect(flagsOf(pushCommand.options, [...ofService, "map"]).filter((name) => !known.includes(name))).toEqual([]);
  for (const { flag } of mapOptions) expect(Object.keys(pushCommand.options)).toContain(flag);
  expect(known.filter((flag) => ofService.includes(flag))).toEqual([]);
});

test("the table holds each key of a job", () => {
  const keys = [...Object.values(conversionOptions), ...mapOptions].flatMap(({ job }) => job ?? []);
  const ofJobs = [
    "name",
    "source",
    "target",
    "needs",
    "retries",
    "retryDelay",
    "timeout",
    "always",
    "maxDecrease",
    "map",
  ];
  const all = [...new Set([...keysOfStep, ...keysOfMap])].filter((key) => !ofJobs.includes(key));
  expect([...keys].sort()).toEqual(all.sort());
});

test("members of one option are joined under its key, which a job may have once", () => {
  expect(replaceFlagsByKeys("read them with --in x=lon --in y=lat, or --in geometry=none")).toBe(
    "read them with in: { x: lon, y: lat }, or in: { geometry: none }",
  );
});
