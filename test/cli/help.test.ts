/** What `--help` and its like print, and how it fits the terminal. */
import { describe, expect, test } from "vitest";
import { commands } from "../../src/cli/command.js";
import { commandsByPurpose, formatHelp } from "../../src/cli/help.js";
import { hasColor } from "../../src/cli/output/terminal.js";
import { geoferry, samples } from "../support/command.js";

const help = (line: string, env: NodeJS.ProcessEnv = {}) => {
  const { status, stdout, stderr } = geoferry(line.split(" "), { env });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout;
};

describe("help", () => {
  test.each(Object.keys(commands))(
    "the help of %s begins with usage and examples, followed by flags in groups",
    (name) => {
      const text = formatHelp([...name.split(" "), "--help"], process.stdout);
      const headings = text.match(/^[A-Z][^.\n]*:$/gm)!;
      expect(text).toMatch(new RegExp(`^geoferry ${name}\\b`));
      expect(headings[0]).toBe("Examples:");
      expect(headings.at(-1)).toBe("Global flags:");
      for (const flag of Object.keys(commands[name]!.options)) expect(text).toMatch(new RegExp(`--(no-)?${flag}\\b`));
    },
  );

  test.each([
    ["convert -h", "convert --help"],
    ["help convert", "convert --help"],
    ["convert in.shp out.csv --strict -h", "convert --help"],
    ["help admin map add", "admin map add -h"],
    ["help admin map", "admin map --help"],
    ["help", "--help"],
    ["-h", "--help"],
    ["--help convert", "convert --help"],
  ])("%s and %s print the same help", (one, other) => {
    expect(help(one)).toBe(help(other));
  });

  test("the overview lists every command", () => {
    const words = new Set(Object.keys(commands).map((name) => name.split(" ")[0]!));
    for (const name of commandsByPurpose.flatMap(([, names]) => names)) expect(words).toContain(name);
    const text = help("--help");
    for (const name of words) expect(text).toMatch(new RegExp(`^  ${name}  `, "m"));
  });

  test("help for an unknown command suggests the nearest one", () => {
    const { status, stderr } = geoferry(["help", "conver"]);
    expect(status).toBe(2);
    expect(stderr).toContain('no command "conver"; did you mean convert?');
  });

  test.each([40, 60, 100])("help fits a terminal of %i columns, except for examples and long names", (columns) => {
    const text = help("convert --help", { COLUMNS: String(columns) });
    const long = text.split("\n").filter((line) => line.length > columns);
    expect(long.filter((line) => !/^ {2}(geoferry|-)|^ *\S+$/.test(line))).toEqual([]);
  });

  test("help lists related flags under one heading", () => {
    const parts = help("convert --help").split(/^(?=[A-Z][^.\n]*:$)/m);
    const part = (heading: string) => parts.find((text) => text.startsWith(heading))!;
    expect(part("Coordinates:")).toMatch(/--source-crs CRS[\s\S]*--target-crs CRS[\s\S]*--no-reproject/);
    expect(part("Features:")).toMatch(/--geometry-type point\|line\|polygon\|multi/);
    expect(part("Service, for map:ID:")).toContain("--profile NAME");
  });
});

describe("color", () => {
  const terminal = { isTTY: true };
  const file = {};
  test.each([
    [terminal, {}, "auto", true],
    [file, {}, "auto", false],
    [terminal, { NO_COLOR: "1" }, "auto", false],
    [terminal, { NO_COLOR: "" }, "auto", true],
    [terminal, { TERM: "dumb" }, "auto", false],
    [file, { FORCE_COLOR: "1" }, "auto", true],
    [terminal, { FORCE_COLOR: "0" }, "auto", false],
    [file, { FORCE_COLOR: "1", NO_COLOR: "1" }, "auto", false],
    [terminal, { NO_COLOR: "1" }, "always", true],
    [terminal, {}, "never", false],
  ] as const)("colors on %j with %j and --color %s: %s", (stream, environment, mode, expected) => {
    expect(hasColor(stream, environment, mode)).toBe(expected);
  });

  const plain = { NO_COLOR: "", FORCE_COLOR: "", GEOFERRY_COLOR: "" };
  // ECMA-48: SGR.
  const styles = (text: string) => text.match(new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g")) ?? [];

  test("headings, errors and losses are colored on request", () => {
    expect(styles(help("--help", plain))).toEqual([]);
    expect(styles(help("--help --color always", plain))).toContain("\u001b[1m");
    expect(geoferry(["convert", "--color=always"], { env: plain }).stderr).toContain(
      "\u001b[31mgeoferry:\u001b[0m convert needs",
    );
    const { stderr } = geoferry(["convert", `${samples}/parks.geojson`, "-", "--to", "csv", "--color", "always"], {
      env: plain,
    });
    expect(stderr).toContain("\u001b[33mnote\u001b[0m");
    expect(geoferry(["convert"], { env: { ...plain, GEOFERRY_COLOR: "always" } }).stderr).toContain("\u001b[31m");
  });

  test("an unknown color mode is rejected", () => {
    const { status, stderr } = geoferry(["formats", "--color", "pink"]);
    expect(status).toBe(2);
    expect(stderr).toBe('geoferry: option --color: "pink" is not one of auto, always, never\n');
  });
});
