/** A line that is read without the large parser must come out of it the same; all others are left to it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { protectArguments } from "../../src/cli/arguments.js";
import { commandNameIn, commands, common } from "../../src/cli/command.js";
import { readFullLine } from "../../src/cli/full-line.js";
import { readPlainLine } from "../../src/cli/plain-line.js";

async function plain(line: readonly string[]): Promise<Record<string, unknown> | null> {
  const name = commandNameIn(line)!;
  return readPlainLine(protectArguments(line).slice(name.split(" ").length), commands[name]!) as Record<
    string,
    unknown
  > | null;
}

/** What yargs makes of it, without the names that it adds: `_`, `$0`, aliases and names with hyphens. */
async function full(line: readonly string[]): Promise<Record<string, unknown>> {
  const asked = await readFullLine(protectArguments(line));
  const { options, positionals } = asked!.command;
  const known = Object.keys({ ...common, ...options, ...positionals }).map((name) =>
    name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
  );
  return Object.fromEntries(
    Object.entries(asked!.args).filter(([name, value]) => known.includes(name) && value !== undefined),
  );
}

describe("a plain line is read", () => {
  const cases: readonly (readonly [string[], Record<string, unknown>])[] = [
    [["convert", "a.csv", "b.shp"], { paths: ["a.csv", "b.shp"], reproject: true }],
    [["convert", "-", "out/"], { paths: ["stdio:", "out/"], reproject: true }],
    [
      ["convert", "a", "b", "--target-crs", "EPSG:25832", "--overwrite", "-qv"],
      { paths: ["a", "b"], reproject: true, targetCrs: "EPSG:25832", overwrite: true, quiet: true, verbose: true },
    ],
    [
      ["convert", "--layer=x", "a", "--layer", "y,z", "b", "--no-reproject", "--no-json"],
      { paths: ["a", "b"], reproject: false, layer: ["x", "y,z"], json: false },
    ],
    [
      ["convert", "a", "b", "--bbox", "-10,40,5,50", "--limit", "5", "--where", "a = 'b'"],
      { paths: ["a", "b"], reproject: true, bbox: "-10,40,5,50", limit: "5", where: "a = 'b'" },
    ],
    [
      ["convert", "a", "b", "--select='a'", '--out="k=v"'],
      { paths: ["a", "b"], reproject: true, select: ["'a'"], out: ['"k=v"'] },
    ],
    [["info", "a", "b", "--in", "k=v"], { inputs: ["a", "b"], in: ["k=v"] }],
    [["check", "a", "--strict"], { inputs: ["a"], strict: true }],
    [["formats"], {}],
    [["serve", "--port", "0", "--json"], { port: "0", json: true }],
    [["serve", "--limit", "a=1", "--limit=b=2"], { limit: ["a=1", "b=2"] }],
    [["admin", "user", "add", "ada@example.org", "--data", "maps"], { email: "ada@example.org", data: "maps" }],
    [["admin", "map", "list"], {}],
    [["admin", "map", "add", "5", "--owner", "a@b", "--private"], { name: "5", owner: "a@b", private: true }],
    [["formats", "csv", "--plugin", "./x.js"], { name: "csv", plugin: ["./x.js"] }],
  ];
  test.each(cases)("%j", async (line, args) => {
    expect(await plain(line)).toEqual(args);
    expect(await full(line)).toEqual(args);
  });
});

test.each([
  ["convert"],
  ["convert", "--help"],
  ["convert", "a", "b", "--version"],
  ["convert", "a", "b", "--unheard"],
  ["convert", "a", "b", "--overwrite=yes"],
  ["convert", "--overwrite", "true", "a", "b"],
  ["convert", "a", "b", "--from"],
  ["convert", "a", "b", "--from", "--to"],
  ["convert", "a", "b", "--from="],
  ["convert", "a", "b", "--from", "csv", "--from", "shp"],
  ["convert", "a", "b", "--no-from"],
  ["convert", "a", "b", "-x"],
  ["convert", "a", ""],
  ["convert", "a", "help"],
  ["formats", "csv", "shp"],
  ["serve", "maps"],
  ["serve", "--trust-proxy"],
  ["admin", "map", "add", "Parks"],
  ["admin", "user", "add"],
])("what is odd is left to the large parser: %s %s %s %s %s %s %s", async (...line) => {
  expect(await plain(line)).toBeNull();
});

test("both parsers agree, whatever is typed", async () => {
  const word = fc.oneof(
    {
      arbitrary: fc.constantFrom(
        "a.csv",
        "b",
        "5",
        "-5",
        "-5,6",
        "1e3",
        "true",
        "-",
        "--",
        "k=v",
        "x,y",
        "'q'",
        "a b",
        "ü",
        "__proto__",
        "check",
      ),
      weight: 6,
    },
    { arbitrary: fc.string({ maxLength: 6 }), weight: 1 },
  );
  const flag = fc.constantFrom(
    "--from",
    "--to",
    "--layer",
    "--layer-name",
    "--layerName",
    "--in",
    "--out",
    "--overwrite",
    "--no-overwrite",
    "--reproject",
    "--no-reproject",
    "--limit",
    "--where",
    "-q",
    "-v",
    "-qv",
    "--json",
    "--plugin",
    "--strict",
    "--no-from",
    "-f",
    "--target-crs",
    "--workers",
    "--owner",
    "--port",
    "--trust-proxy",
  );
  const token = fc.oneof(
    { arbitrary: word, weight: 4 },
    { arbitrary: flag, weight: 3 },
    { arbitrary: fc.tuple(flag, word).map(([name, value]) => `${name}=${value}`), weight: 2 },
  );
  const line = fc.tuple(fc.constantFrom(...Object.keys(commands)), fc.array(token, { maxLength: 6 }));
  let read = 0;
  await fc.assert(
    fc.asyncProperty(line, async ([name, rest]) => {
      const words = [...name.split(" "), ...rest];
      const args = await plain(words);
      if (args === null) return;
      read++;
      expect(args).toEqual(await full(words));
    }),
    { numRuns: 200 },
  );
  expect(read).toBeGreaterThan(5);
});
