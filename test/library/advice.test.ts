/** Messages in the words of the library. */
import { expect, test } from "vitest";
import { convertCommand } from "../../src/cli/commands/convert.js";
import { mapInputOptions } from "../../src/cli/map-inputs.js";
import { inOptions, optionOfFlag, optionsIn } from "../../src/library/advice.js";

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
  ["--strict: the target cannot hold everything", "strict: true: the target cannot hold everything"],
  ["run --port 0, or -v; a--from-b", "run --port 0, or -v; a--from-b"],
])("%s", (flags, options) => {
  expect(inOptions(flags)).toBe(options);
});

test("the options that a sentence names are listed once", () => {
  expect(optionsIn("--from X or --to Y or --from Z, --port")).toEqual(["from", "to"]);
});

test("each flag of convert that a program can follow is known", () => {
  // What only a command line has, limits of batches, and what the library takes from the call.
  const others = new Set(["plugin", "json", "quiet", "verbose", "help", "version"]);
  for (const name of ["max-losses", "max-without-geometry", "on-name-clash"]) others.add(name);
  const unknown = Object.keys(convertCommand.options).filter((name) => !Object.hasOwn(optionOfFlag, name));
  expect(unknown.filter((name) => !others.has(name) && !/grid/.test(name))).toEqual(serviceFlags);
});

/** Of maps as inputs, which the library reads through `readMap`. */
const serviceFlags = Object.keys(mapInputOptions);
