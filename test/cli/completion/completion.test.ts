/** What Tab does: in bash, zsh and fish themselves, on a terminal that `script` of util-linux makes. */
import { spawn } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { delimiter } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { completionsAt } from "../../../src/cli/completion/complete.js";
import { parseCursor } from "../../../src/cli/completion/shell-protocol.js";
import { geoferry, hasProgram, main, samples } from "../../support/command.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

writeFileSync(scratch.path("towns.csv"), "lon,lat,name,people total\n16.37,48.21,Wien,2\n");
// Answers Tab, and otherwise prints what it was given: what the shell has made of the completed line.
writeFileSync(
  scratch.path("geoferry"),
  `#!/bin/sh
case $1 in __complete) exec '${process.execPath}' '${main}' "$@" ;; esac
printf 'GIVEN'; printf ' [%s]' "$@"; echo
`,
);
chmodSync(scratch.path("geoferry"), 0o755);

interface Shell {
  readonly command: string;
  /** Loads the script, then prints READY. */
  readonly setup: string;
  readonly enter: string;
}

const shells: Readonly<Record<"bash" | "zsh" | "fish", Shell>> = {
  bash: { command: "bash --norc --noprofile -i", setup: "source script.bash; echo REA''DY", enter: "\n" },
  zsh: {
    command: "zsh -f -i",
    setup: "fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; echo REA''DY",
    enter: "\n",
  },
  fish: { command: "fish -N -i", setup: "source script.fish; echo REA''DY", enter: "\r" },
};

/** What geoferry is given for each line, after Tab at its end and Enter. */
async function typed(shell: keyof typeof shells, lines: readonly string[]): Promise<string[]> {
  const { command, setup, enter } = shells[shell];
  const env = {
    ...process.env,
    PATH: `${scratch.folder}${delimiter}${process.env.PATH}`,
    TERM: "xterm",
    XDG_CONFIG_HOME: scratch.path("config"),
    XDG_DATA_HOME: scratch.path("data"),
  };
  const child = spawn("script", ["-qec", command, "/dev/null"], { cwd: scratch.folder, env });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = new Promise((resolve) => child.on("close", resolve));
  const given = () => [...output.matchAll(/GIVEN((?: \[[^\]]*\])+)/g)].map(([, all]) => all!.trim());
  child.stdin.write(`${setup}${enter}`);
  await expect.poll(() => output, { timeout: 30_000, interval: 100 }).toContain("READY");
  for (const [at, line] of lines.entries()) {
    child.stdin.write(`${line}\t${enter}`);
    await expect.poll(() => given().length, { timeout: 30_000, interval: 50 }).toBe(at + 1);
  }
  child.stdin.write(`exit${enter}`);
  await ended;
  return given();
}

/** Each with what geoferry is given for it. */
const everywhere: readonly (readonly [line: string, given: string])[] = [
  ["geoferry conv", "[convert]"],
  ["geoferry admin creden", "[admin] [credential]"],
  ["geoferry convert towns.csv x --to geopac", "[convert] [towns.csv] [x] [--to] [geopackage]"],
  ["geoferry convert towns.csv x --to=geopac", "[convert] [towns.csv] [x] [--to=geopackage]"],
  ["geoferry convert tow", "[convert] [towns.csv]"],
  ["geoferry convert towns.csv x --skip", "[convert] [towns.csv] [x] [--skip-errors]"],
  ["geoferry push towns.csv --mode inc", "[push] [towns.csv] [--mode] [incremental]"],
  ["geoferry convert towns.csv x --target-crs EPSG:31468", "[convert] [towns.csv] [x] [--target-crs] [EPSG:31468]"],
  ["geoferry convert towns.csv x --target-crs=EPSG:3146", "[convert] [towns.csv] [x] [--target-crs=EPSG:3146]"],
  ["geoferry convert towns.csv x --select peo", "[convert] [towns.csv] [x] [--select] [people total]"],
  ["geoferry convert towns.csv x --in keepG", "[convert] [towns.csv] [x] [--in] [keepGeometryColumns=]"],
  ["geoferry convert towns.csv x --in header=a", "[convert] [towns.csv] [x] [--in] [header=auto]"],
  [
    `geoferry convert '${samples}/geopackage/world.gpkg' x --layer cap`,
    `[convert] [${samples}/geopackage/world.gpkg] [x] [--layer] [capitals]`,
  ],
];

const byName: typeof everywhere = [
  // EPSG:3112 is "GDA94 / Geoscience Australia Lambert" (epsg.org).
  ["geoferry convert a b --target-crs 'geoscience australia lamb", "[convert] [a] [b] [--target-crs] [EPSG:3112]"],
];

describe("Tab completes", () => {
  test.runIf(hasProgram("bash"))("Tab completes commands, flags and values in bash", { timeout: 120_000 }, async () => {
    writeFileSync(scratch.path("script.bash"), geoferry(["completion", "bash"]).stdout);
    const lines = [...everywhere, ...byName];
    expect(
      await typed(
        "bash",
        lines.map(([line]) => line),
      ),
    ).toEqual(lines.map(([, given]) => given));
  });

  test.runIf(hasProgram("zsh"))("Tab completes commands, flags and values in zsh", { timeout: 120_000 }, async () => {
    writeFileSync(scratch.path("_geoferry"), geoferry(["completion", "zsh"]).stdout);
    const lines = [...everywhere, ...byName];
    expect(
      await typed(
        "zsh",
        lines.map(([line]) => line),
      ),
    ).toEqual(lines.map(([, given]) => given));
  });

  test.runIf(hasProgram("fish"))("Tab completes commands, flags and values in fish", { timeout: 120_000 }, async () => {
    writeFileSync(scratch.path("script.fish"), geoferry(["completion", "fish"]).stdout);
    expect(
      await typed(
        "fish",
        everywhere.map(([line]) => line),
      ),
    ).toEqual(everywhere.map(([, given]) => given));
  });
});

/** What is offered where a line ends. */
async function offered(line: string, shell = "zsh"): Promise<string[]> {
  const words = line.split(" ");
  const { offers } = await completionsAt({ shell, words: words.slice(0, -1), current: words.at(-1)! }, 30_000);
  return offers.map(({ value }) => value);
}

describe("what is offered", () => {
  const csv = `${samples}/csv/capitals.csv`;
  test.each([
    ["", ["convert", "info", "help", "completion"]],
    ["admin ", ["user", "map", "credential"]],
    ["help admin ", ["user", "map", "credential"]],
    ["completion ", ["bash", "zsh", "fish", "powershell"]],
    ["convert --from ", ["csv", "shapefile", "gpx", "flatgeobuf", "gdal:GML"]],
    ["formats ", ["csv", "shapefile", "postgis"]],
    ["convert a b --geometry-type ", ["point", "line", "polygon", "multi"]],
    ["convert a b --color ", ["auto", "always", "never"]],
    ["plan a --update-with ", ["patch", "delete-create"]],
    ["plan a --on-duplicate ", ["first", "last"]],
    ["serve --log-level ", ["debug", "info"]],
    ["pull x --layer point,", ["point,line", "point,polygon"]],
    [`convert ${csv} x --select name,`, ["name,iso2", "name,population"]],
    [`convert ${csv} x --cast population=`, ["population=text", "population=int32"]],
    [`convert ${csv} x --rename `, ["name=", "population="]],
    [`push ${csv} --remote-field `, ["iso2", "name"]],
    [`convert ${samples}/parks.geojson x --select `, ["ref", "area_km2"]],
    [`convert ${csv} x.csv --out `, ["delimiter=", "bom="]],
    [`convert ${csv} - --to csv --out bom=`, ["bom=yes", "bom=no"]],
    ["convert a b --", ["--target-crs", "--no-reproject", "--help"]],
    ["convert a b --target-crs EPSG:2583", ["EPSG:25832", "EPSG:25833"]],
    ["convert a b --target-crs EPSG:2", ["EPSG:25", "EPSG:27"]],
    ["convert a b --target-crs utm32", ["EPSG:25832", "EPSG:32632"]],
    ["convert a b --source-crs ", ["EPSG:4326", "EPSG:3857"]],
  ])('words are offered after "geoferry %s"', async (line, some) => {
    expect(await offered(line)).toEqual(expect.arrayContaining(some));
  });

  test.each([
    ["a flag that is given already", "convert a b --overwrite --over", "--overwrite"],
    ["a name that the list has already", `convert ${csv} x --select name,`, "name,name"],
    ["a format that cannot be written", "convert a --to ", "gdal"],
    ["a flag behind --", "convert a b -- --", "--overwrite"],
  ])("a completion does not offer %s", async (_, line, value) => {
    expect(await offered(line)).not.toContain(value);
  });

  test("completion prints nothing if a file cannot be read", () => {
    writeFileSync(scratch.path("broken.gpkg"), "no GeoPackage");
    const line = ["__complete", "zsh", "convert", scratch.path("broken.gpkg"), "x", "--layer", "="];
    expect(geoferry(line)).toEqual({ status: 0, stdout: "\n", stderr: "" });
  });

  test("completions for PowerShell are quoted, and empty words are passed", () => {
    const line = ["__complete", "powershell", "convert", scratch.path("towns.csv"), "x", "--select", "=peo"];
    expect(geoferry(line).stdout).toBe("\n'people total'\tint32\n");
    expect(geoferry(["__complete", "powershell", "completion", "="]).stdout).toBe("\nbash\nzsh\nfish\npowershell\n");
    expect(geoferry(["completion", "powershell"]).stdout).toContain(
      "Register-ArgumentCompleter -Native -CommandName geoferry",
    );
  });
});

describe("a line of bash is read as bash does", () => {
  const breaks = " \t\n\"'><=;|&(:";
  test.each([
    ["geoferry convert a\\ b --to ge", ["convert", "a b", "--to"], "ge", "", 0],
    ["geoferry convert 'a b' \"c d", ["convert", "a b"], "c d", '"', 0],
    ["geoferry convert --target-crs EPSG:25", ["convert", "--target-crs"], "EPSG:25", "", 5],
    ["geoferry convert --to=ge", ["convert"], "--to=ge", "", 5],
    ["geoferry ", [], "", "", 0],
  ])("the line of bash is split into words: %s", (line, words, current, quote, kept) => {
    expect(parseCursor("bash", [line, breaks, "100"])).toEqual({
      shell: "bash",
      words,
      current,
      quote,
      keptLength: kept,
      columns: 100,
    });
  });
});
