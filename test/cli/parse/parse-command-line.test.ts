/** What a command gets of its line, and which lines are wrong. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { commandNameIn, commands } from "../../../src/cli/command.js";
import { protectArguments } from "../../../src/cli/parse/arguments.js";
import { camelCase } from "../../../src/cli/parse/camel-case.js";
import { explainMistake } from "../../../src/cli/parse/command-line-errors.js";
import { parseCommandLine } from "../../../src/cli/parse/parse-command-line.js";

function read(line: readonly string[]): Record<string, unknown> | null {
  const name = commandNameIn(line)!;
  return parseCommandLine(protectArguments(line).slice(name.split(" ").length), commands[name]!) as Record<
    string,
    unknown
  > | null;
}

/** Flags that are on unless the line says otherwise. */
function standardOf(line: readonly string[]): Record<string, unknown> {
  const { options } = commands[commandNameIn(line)!]!;
  const on = Object.entries(options).filter(([, flag]) => flag.default === true);
  return Object.fromEntries(on.map(([name]) => [camelCase(name), true]));
}

describe("a line is read", () => {
  const cases: readonly (readonly [string[], Record<string, unknown>])[] = [
    [["convert", "a.csv", "b.shp"], { paths: ["a.csv", "b.shp"] }],
    [["convert", "-", "out/"], { paths: ["-", "out/"] }],
    [["diff", "a", "-", "--html", "-"], { inputs: ["a", "-"], html: "-" }],
    [["plan", "a", "--map", "7c0", "-o", "-"], { inputs: ["a"], map: "7c0", output: "-" }],
    [
      ["convert", "a", "b", "--target-crs", "EPSG:25832", "--overwrite", "-qv"],
      { paths: ["a", "b"], targetCrs: "EPSG:25832", overwrite: true, quiet: true, verbose: true },
    ],
    [
      ["convert", "--layer=x", "a", "--layer", "y,z", "b", "--no-reproject", "--no-json"],
      { paths: ["a", "b"], reproject: false, layer: ["x", "y,z"], json: false },
    ],
    [
      ["convert", "a", "b", "--bbox", "-10,40,5,50", "--limit", "5", "--where", "a = 'b'"],
      { paths: ["a", "b"], bbox: "-10,40,5,50", limit: "5", where: "a = 'b'" },
    ],
    [["convert", "a", "b", "--select='a'", '--out="k=v"'], { paths: ["a", "b"], select: ["'a'"], out: ['"k=v"'] }],
    [["info", "a", "b", "--in", "k=v"], { inputs: ["a", "b"], in: ["k=v"] }],
    [["check", "a", "--strict"], { inputs: ["a"], strict: true }],
    [["formats"], {}],
    [["serve", "--port", "0", "--json"], { port: "0", json: true }],
    [["serve", "--limit", "a=1", "--limit=b=2"], { limit: ["a=1", "b=2"] }],
    [["admin", "user", "add", "ada@example.org", "--data", "maps"], { email: "ada@example.org", data: "maps" }],
    [["admin", "map", "list"], {}],
    [["admin", "map", "add", "5", "--owner", "a@b", "--public"], { name: "5", owner: "a@b", public: true }],
    [["formats", "csv", "--plugin", "./x.js"], { name: "csv", plugin: ["./x.js"] }],
    // What other parsers take for words of their own, numbers or flags.
    [["convert", "a", "help"], { paths: ["a", "help"] }],
    [["convert", "--overwrite", "true", "5"], { paths: ["true", "5"], overwrite: true }],
    [["convert", "a", "b", "--json", "--json"], { paths: ["a", "b"], json: true }],
    [["convert", "--", "-1.csv", "--b"], { paths: ["./-1.csv", "./--b"] }],
    [["convert", "a", "b", "--where=-x > 3"], { paths: ["a", "b"], where: "-x > 3" }],
    [["serve", "--trust-proxy"], { trustProxy: "loopback,linklocal,uniquelocal" }],
    [["serve", "--trust-proxy", "--json"], { trustProxy: "loopback,linklocal,uniquelocal", json: true }],
    [["serve", "--trust-proxy", "10.0.0.1"], { trustProxy: "10.0.0.1" }],
    [["help", "admin", "map"], { command: ["admin", "map"] }],
  ];
  test.each(cases)("a valid command line is parsed: %j", (line, args) => {
    expect(read(line)).toEqual({ ...standardOf(line), ...args });
  });
});

test.each([
  ["convert"],
  ["convert", "--help"],
  ["convert", "a", "b", "--version"],
  ["convert", "a", "b", "--unheard"],
  ["convert", "a", "b", "--overwrite=yes"],
  ["convert", "a", "b", "--from"],
  ["convert", "a", "b", "--from", "--to"],
  ["convert", "a", "b", "--from="],
  ["convert", "a", "b", "--from", "csv", "--from", "shp"],
  ["convert", "a", "b", "--no-from"],
  ["convert", "a", "b", "-x"],
  ["formats", "csv", "shp"],
  ["serve", "maps"],
  ["admin", "map", "add", "Parks"],
  ["admin", "user", "add"],
])("an invalid command line is rejected: %s %s %s %s %s %s %s", (...line) => {
  expect(read(line)).toBeNull();
});

test("every command line is either parsed or refused with a message", () => {
  const word = fc.oneof(
    fc.constantFrom(
      "a.csv",
      "5",
      "-5,6",
      "true",
      "-",
      "--",
      "k=v",
      "'q'",
      "a b",
      "ü",
      "__proto__",
      "check",
      "-q",
      "-xq",
    ),
    fc.constantFrom(
      "--from",
      "--layer=",
      "--overwrite",
      "--no-overwrite",
      "--no-from",
      "--json=1",
      "--owner",
      "-f",
      "-t_srs",
    ),
    fc.string({ maxLength: 6 }),
  );
  const line = fc.tuple(fc.constantFrom(...Object.keys(commands)), fc.array(word, { maxLength: 6 }));
  fc.assert(
    fc.property(line, ([name, rest]) => {
      const words = protectArguments([...name.split(" "), ...rest]).slice(name.split(" ").length);
      if (parseCommandLine(words, commands[name]!) !== null) return;
      const { code, message } = explainMistake(name, words);
      expect(code).toBe("usage");
      expect(message).toMatch(/\S/);
      expect(message).not.toMatch(/undefined|needs ;|needs $/);
    }),
    { numRuns: 500 },
  );
});
