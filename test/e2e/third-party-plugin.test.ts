import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root, samples } from "../support/command.js";
import { packedPackage } from "../support/packed-package.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[], cwd = scratch.folder): Ended {
  const env = { ...process.env, NO_COLOR: "1", NODE_OPTIONS: "" };
  // Removes variables with which npm and node:test mark child processes.
  for (const name of Object.keys(env)) if (/^(npm_|NODE_TEST|VITEST)/i.test(name)) delete env[name as keyof typeof env];
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: "utf8", maxBuffer: 1 << 28 });
  return { status, stdout, stderr };
}

function must(program: string, args: readonly string[], cwd?: string): string {
  const { status, stdout, stderr } = run(program, args, cwd);
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}

/** The command of the installed package. */
const geoferry = (...args: string[]) => run(join(scratch.folder, "node_modules", ".bin", "geoferry"), args);

/** Arguments that load the installed plugin. */
const plugin = ["--plugin", "geoferry-plugin-wkt"];

beforeAll(() => {
  if (!existsSync(join(root, "dist/src/cli/main.js"))) must("npm", ["run", "--silent", "build"], root);
  const packed = scratch.path("packed");
  mkdirSync(packed);
  const sample = join(root, "samples/plugin-wkt");
  must("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", packed], sample);
  const files = [packedPackage(), ...readdirSync(packed).map((name) => `./packed/${name}`)];
  expect(files).toHaveLength(2);
  writeFileSync(scratch.path("package.json"), JSON.stringify({ private: true, type: "module" }));
  const quietly = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
  must("npm", ["install", "--silent", ...quietly, ...files]);
}, 180_000);

/** x and y of each line of a CSV whose first columns they are. */
const positions = (csv: string) =>
  csv
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",").slice(0, 2).map(Number));

describe("a plugin of others, installed from npm", () => {
  test("a third-party plugin is listed among the formats, with its options", () => {
    const all = geoferry("formats", ...plugin);
    expect(all).toMatchObject({ status: 0 });
    expect(all.stdout).toMatch(/^wkt +reads, writes +Well-known text/m);
    const one = geoferry("formats", "wkt", ...plugin);
    expect(one.stdout).toMatch(/comment=text .*\[#\]/);
    expect(one.stdout).toMatch(/srid=boolean .*\[true\]/);
  });

  test.each([1, 2])("a third-party plugin writes and reads with %i workers", (workers) => {
    const at = (name: string) => scratch.path(`${workers}-${name}`);
    const using = [...plugin, "--workers", String(workers)];
    const there = geoferry("convert", `${samples}/csv/capitals.csv`, at("capitals.wkt"), ...using);
    expect(there, there.stderr).toMatchObject({ status: 0 });
    expect(there.stderr).toContain("field-dropped");
    const lines = readFileSync(at("capitals.wkt"), "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(195);
    for (const line of lines) expect(line).toMatch(/^SRID=4326;POINT \(-?[\d.]+ -?[\d.]+\)$/);

    const back = geoferry("convert", at("capitals.wkt"), at("capitals.csv"), ...using);
    expect(back, back.stderr).toMatchObject({ status: 0 });
    const written = lines.map((line) => /\((.*) (.*)\)/.exec(line)!.slice(1).map(Number));
    expect(positions(readFileSync(at("capitals.csv"), "utf8"))).toEqual(written);
  });

  test("a third-party plugin writes the same bytes with one worker as with two", () => {
    const bytes = (workers: number) => {
      const done = geoferry(
        "convert",
        `${samples}/rivers.geojson`,
        scratch.path(`rivers-${workers}.wkt`),
        ...plugin,
        "--workers",
        String(workers),
      );
      expect(done, done.stderr).toMatchObject({ status: 0 });
      return readFileSync(scratch.path(`rivers-${workers}.wkt`), "utf8");
    };
    expect(bytes(2)).toBe(bytes(1));
  });

  test("the options of a third-party plugin are validated", () => {
    const output = scratch.path("plain.wkt");
    expect(geoferry("convert", `${samples}/huts.geojson`, output, ...plugin, "--out", "srid=no")).toMatchObject({
      status: 0,
    });
    expect(readFileSync(output, "utf8")).not.toContain("SRID");
    const wrong = geoferry(
      "convert",
      `${samples}/huts.geojson`,
      scratch.path("never.wkt"),
      ...plugin,
      "--out",
      "sird=no",
    );
    expect(wrong.status).toBe(2);
    expect(wrong.stderr).toContain('wkt has no option "sird"; did you mean "srid"');
  });

  test.each([1, 2])("a third-party plugin rejects unreadable lines with their number, on %i workers", (workers) => {
    const output = scratch.path(`places-${workers}.geojson`);
    const places = join(samples, "plugin-wkt/places.wkt");
    const done = geoferry("convert", places, output, ...plugin, "--workers", String(workers));
    expect(done, done.stderr).toMatchObject({ status: 5 });
    expect(JSON.parse(readFileSync(output, "utf8")).features).toHaveLength(5);
    const rejects = readFileSync(`${output}.rejects.geojsonl`, "utf8").trimEnd().split("\n");
    expect(rejects).toHaveLength(1);
    expect(rejects[0]).toContain("line 8");
  });

  test("a third-party plugin passes the conformance kit", () => {
    // By name, since node's test discovery ignores node_modules.
    const folder = scratch.path("node_modules/geoferry-plugin-wkt");
    const tested = run(process.execPath, ["--test", "--test-reporter=tap", "wkt.test.js"], folder);
    expect(tested.stdout, tested.stdout + tested.stderr).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(tested.stdout)?.[1])).toBeGreaterThan(40);
  });

  test("a plugin that hangs on a damaged file is stopped with a message", () => {
    writeFileSync(scratch.path("ten.hang"), "0123456789");
    writeFileSync(
      scratch.path("hang.test.mjs"),
      `import { checkFormat } from "geoferry/testing";
      const open = async (source) => {
        while (source.size !== 10);
        return { layers: [], async [Symbol.asyncDispose]() {} };
      };
      const format = { apiVersion: 1, id: "hang", label: "Hang", extensions: ["hang"], identify: () => "maybe",
        reader: { options: {}, load: async () => ({ open }) } };
      const checks = new Map();
      checkFormat(format, { test: (name, run) => checks.set(name, run), samples: [{ path: "ten.hang" }], timeLimit: 200 });
      await checks.get("hang: reads damaged copies of ten.hang or refuses them in words")();`,
    );
    const { status, stderr } = run(process.execPath, ["hang.test.mjs"]);
    expect(status).toBeNull();
    expect(stderr).toMatch(/^geoferry\/testing: reading ten\.hang, cut off .* does not end \(waited 400 ms\)$/m);
  });
});

describe("an invalid plugin", () => {
  const cases: readonly (readonly [flaw: string, specifier: string, code: string | null, message: RegExp])[] = [
    ["of another apiVersion", "./version.mjs", "export default { apiVersion: 2, id: 'x' };", /apiVersion 2.*has 1/],
    ["without a default export", "./nothing.mjs", "export const format = 1;", /no default export/],
    [
      "without a way to be identified",
      "./half.mjs",
      "export default { apiVersion: 1, id: 'x', label: 'X', extensions: ['x'] };",
      /identify/,
    ],
    ["that fails to load", "./throws.mjs", "throw new Error('the disk is on fire');", /the disk is on fire/],
    ["that is not there", "./absent.mjs", null, /cannot be found.*no such module/],
    ["that is not installed", "geoferry-plugin-absent", null, /cannot be found.*install it/],
    [
      "with the id of another",
      "./twin.mjs",
      "export default { apiVersion: 1, id: 'csv', label: 'X', extensions: ['x'], identify: () => 'no', reader: { options: {}, load() {} } };",
      /two formats with the id "csv"/,
    ],
  ];
  test.each(cases)("an invalid plugin, %s, ends with 2 and a message", (_, specifier, code, message) => {
    if (code !== null) writeFileSync(scratch.path(specifier), code);
    const { status, stdout, stderr } = geoferry("formats", "--plugin", specifier);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain(basename(specifier));
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ +at /m);
  });
});

describe("the plugin guide", () => {
  const guide = readFileSync(join(root, "docs/plugin-guide.md"), "utf8");
  const blocks = [...guide.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({
    language: language!,
    code: code!,
  }));

  test("the plugin guide shows the sample unchanged", () => {
    const quoted = blocks.filter(({ code }) => code.startsWith("// samples/"));
    expect(quoted.length).toBeGreaterThan(4);
    for (const { code } of quoted) {
      const [, path, shown] = /^\/\/ (\S+)\n([\s\S]*)$/.exec(code)!;
      expect(readFileSync(join(root, path!), "utf8")).toContain(shown);
    }
  });

  test("the code of the plugin guide runs, and its commands succeed", () => {
    for (const { language, code } of blocks) {
      const [, name] = /^(?:\/\/|#) (\S+)\n/.exec(code) ?? [];
      expect(["js", "text", "sh"]).toContain(language);
      if (language === "sh") continue;
      expect(name, code).toBeDefined();
      if (name!.startsWith("samples/")) continue;
      writeFileSync(scratch.path(name!), language === "text" ? code.slice(code.indexOf("\n") + 1) : code);
    }
    writeFileSync(scratch.path("places.csv"), "name,lon,lat\nWien,16.3725,48.2083\n");
    const commands = blocks
      .filter(({ language }) => language === "sh")
      .flatMap(({ code }) => code.trimEnd().split("\n"));
    expect(commands.length).toBeGreaterThan(4);
    for (const command of [...commands, "node --test parts.test.mjs"]) {
      const [program, ...args] = command.replace(/^npx geoferry/, join("node_modules", ".bin", "geoferry")).split(" ");
      must(program!, args.includes("convert") ? [...args, "--overwrite"] : args);
    }
    const features = JSON.parse(readFileSync(scratch.path("places.geojson"), "utf8")).features;
    expect(features).toHaveLength(3);
    expect(features[2]).toMatchObject({
      geometry: { type: "Point", coordinates: [14.2858, 48.3069] },
      properties: { name: "Linz an der Donau" },
    });
    expect(positions(readFileSync(scratch.path("places.csv"), "utf8"))).toHaveLength(3);
    expect(readFileSync(scratch.path("places.wkt"), "utf8")).toContain("SRID=4326;POINT (16.3725 48.2083)");
  });
});
