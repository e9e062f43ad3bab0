/** `convert --verify` and `--report`, and `verify: true` in jobs, with a format of a plugin that may write something else. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, describe, expect, test } from "vitest";
import type { Protocol } from "../../src/cli/protocol/protocol.js";
import { writeProtocol } from "../../src/cli/protocol/write-protocol.js";
import { geoferry, root, samples } from "../support/command.js";
import { TemporaryFolder } from "../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

let folders = 0;
function newFolder(): string {
  const folder = scratch.path(`f${folders++}`);
  mkdirSync(folder);
  return folder;
}

/** One feature a line. A line that says "forget me" is not written. */
const plugin = scratch.path("lines-plugin.mjs");
writeFileSync(
  plugin,
  `const lines = (bytes) => bytes.toString("utf8").split("\\n").filter(Boolean).map((line) => JSON.parse(line));
const fieldsOf = (features) => [...new Set(features.flatMap(({ properties }) => Object.keys(properties)))].map((name) => ({ name, type: "text" }));
export default {
  apiVersion: 1,
  id: "lines",
  label: "Lines",
  extensions: ["lines"],
  identify: () => "no",
  reader: {
    options: {},
    load: async () => ({
      async open(source, _, context) {
        const file = await source.open();
        const features = lines(await file.read(0, source.size));
        await file.close();
        const layer = { name: "lines", crs: context.crs.wgs84, fields: fieldsOf(features), geometryTypes: null, featureCount: features.length, extent: null, bytes: source.size, async *batches() { yield features; } };
        return { layers: [layer], async [Symbol.asyncDispose]() {} };
      },
    }),
  },
  writer: {
    options: {},
    capabilities: () => ({ crs: "wgs84", layers: "one", geometryTypes: ["Point"], nullGeometry: true, z: false, m: false, fieldTypes: ["text"], ids: "id", requiredScan: "summary", supportsStreaming: true }),
    load: async () => ({
      createEncoder: async () => ({ encode: (batch) => ({ features: [...batch.features()] }) }),
      async createAssembler(sink) {
        const file = await sink.create();
        return {
          async append({ features }) {
            const kept = features.filter(({ properties }) => properties.name !== "forget me");
            await file.write(Buffer.from(kept.map((one) => JSON.stringify(one) + "\\n").join("")));
          },
          async finish() {},
        };
      },
    }),
  },
};
`,
);

const point = (name: string) => ({
  type: "Feature",
  properties: { name },
  geometry: { type: "Point", coordinates: [7, 46] },
});
function input(folder: string, names: readonly string[], file = "in.geojson"): string {
  const path = `${folder}/${file}`;
  writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features: names.map(point) }));
  return path;
}

const convert = (folder: string, ...args: string[]) =>
  geoferry(["convert", ...args, "--plugin", plugin], { cwd: folder });

describe("--verify", () => {
  test("a conversion that keeps everything says so", () => {
    const folder = newFolder();
    input(folder, ["a", "b"]);
    const { status, stderr } = convert(folder, "in.geojson", "out.lines", "--verify");
    expect([status, stderr]).toEqual([0, expect.stringContaining("  verified: 2 features read back as written\n")]);
    expect(existsSync(`${folder}/out.lines`)).toBe(true);
  });

  test("a writer that forgets a feature ends the run with 6 and no output", () => {
    const folder = newFolder();
    input(folder, ["a", "forget me", "c"]);
    expect(convert(folder, "in.geojson", "plain.lines").status).toBe(0);
    const { status, stderr, stdout } = convert(folder, "in.geojson", "out.lines", "--verify", "--json");
    expect(status).toBe(6);
    expect(stderr).toContain("out.lines: --verify found 1 difference");
    expect(stderr).toContain("layer in, feature 2: written a feature, read back no feature");
    expect(JSON.parse(stdout)).toMatchObject({
      type: "error",
      code: "verify-failed",
      count: 1,
      differences: [{ kind: "feature-missing", layer: "in", feature: 2 }],
    });
    expect(readdirSync(folder).sort()).toEqual(["in.geojson", "plain.lines"]);
  });

  test("an existing output stays", () => {
    const folder = newFolder();
    input(folder, ["forget me"]);
    writeFileSync(`${folder}/out.lines`, "earlier");
    expect(convert(folder, "in.geojson", "out.lines", "--verify", "--overwrite").status).toBe(6);
    expect(readFileSync(`${folder}/out.lines`, "utf8")).toBe("earlier");
  });

  test("stdout is refused with advice", () => {
    const { status, stderr } = convert(newFolder(), `${samples}/parks.geojson`, "-", "--to", "csv", "--verify");
    expect([status, stderr]).toEqual([2, expect.stringContaining("write to a file with --verify, and pass that on")]);
  });

  test("records have the proof of each layer", () => {
    const folder = newFolder();
    const { stdout } = convert(folder, `${samples}/parks.geojson`, "out.gpkg", "--verify", "--json", "--quiet");
    const proofs = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ type }) => type === "proof");
    expect(proofs).toMatchObject([{ output: "out.gpkg", layer: "parks", features: 27, identical: 27, explained: [] }]);
  });
});

const schema = JSON.parse(readFileSync(`${root}/docs/report.schema.json`, "utf8"));
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
function readProtocol(path: string): Protocol {
  const protocol = JSON.parse(readFileSync(path, "utf8")) as Protocol;
  expect(validate(protocol), JSON.stringify(validate.errors)).toBe(true);
  return protocol;
}
const sha256 = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");

describe("--report", () => {
  const hostile = "<img src=x onerror=alert(1)>";

  test("the JSON has checksums, counts, losses, rejects and proof", () => {
    const folder = newFolder();
    const path = `${folder}/in.geojson`;
    const features = [
      point("x".repeat(300)),
      point("b"),
      { ...point("c"), geometry: { type: "Point", coordinates: [7, 200] } },
    ];
    writeFileSync(path, JSON.stringify({ type: "FeatureCollection", features }));
    const done = convert(
      folder,
      "in.geojson",
      "out.shp",
      "--target-crs",
      "EPSG:25832",
      "--verify",
      "--report",
      "p.json",
    );
    expect(done.status).toBe(5);
    const { conversions, exitStatus, options } = readProtocol(`${folder}/p.json`);
    expect([exitStatus, options]).toEqual([5, { targetCrs: "EPSG:25832", verify: true }]);
    const [conversion] = conversions;
    expect(conversion).toMatchObject({
      result: "converted",
      inputs: [{ name: "in.geojson", files: [{ name: "in.geojson", sha256: sha256(path) }] }],
      counts: { read: 3, written: 3, rejected: 1, kept: 1 },
      losses: [{ code: "text-cut", field: "name", count: 1 }],
      rejects: [{ code: "not-transformable", count: 1, isKept: true, examples: [{ place: "record 3" }] }],
      operations: [{ from: "EPSG:4326", to: "EPSG:25832" }],
      proof: { layers: [{ features: 3, identical: 2, explained: [{ code: "text-cut", reported: 1, found: 1 }] }] },
      error: null,
    });
    expect(conversion!.files!.map(({ name }) => name)).toContain("out.dbf");
    for (const file of conversion!.files!) expect(file.sha256).toBe(sha256(`${folder}/${file.name}`));
  });

  test("a failed verification is filed with its differences", () => {
    const folder = newFolder();
    input(folder, ["a", "forget me"]);
    expect(convert(folder, "in.geojson", "out.lines", "--verify", "--report", "p.json").status).toBe(6);
    expect(readProtocol(`${folder}/p.json`).conversions).toMatchObject([
      { result: "failed", error: { code: "verify-failed", differences: [{ kind: "feature-missing", feature: 2 }] } },
    ]);
    expect(convert(folder, "in.geojson", "out.lines", "--verify", "--report", "p.html").status).toBe(6);
    expect(readFileSync(`${folder}/p.html`, "utf8")).toContain("Verification failed; nothing was written");
  });

  test("conversions into a folder are in one protocol", () => {
    const folder = newFolder();
    input(folder, ["a"], "a.geojson");
    input(folder, ["b", "c"], "b.geojson");
    expect(
      convert(folder, "a.geojson", "b.geojson", "out/", "--to", "csv", "--verify", "--report", "p.json").status,
    ).toBe(0);
    const { conversions } = readProtocol(`${folder}/p.json`);
    expect(conversions.map(({ output, counts }) => [output, counts.written])).toEqual([
      ["out/a.csv", 1],
      ["out/b.csv", 2],
    ]);
  });

  test("the page has no script, and escapes names and values", () => {
    const folder = newFolder();
    writeFileSync(
      `${folder}/${hostile.replaceAll("/", "")}.geojson`,
      JSON.stringify({
        type: "FeatureCollection",
        features: [{ ...point(""), properties: { [hostile]: "y".repeat(300) } }],
      }),
    );
    expect(convert(folder, `${hostile}.geojson`, "out.shp", "--verify", "--report", "p.html").status).toBe(0);
    const page = readFileSync(`${folder}/p.html`, "utf8");
    expect(page).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(page).not.toMatch(/<img|<script|https?:\/\/(?!www\.w3\.org)/i);
    expect(page).toContain("default-src 'none'");
    expect(page).toContain("@page { size: A4");
    // An earlier protocol is replaced, another file is not.
    expect(convert(folder, `${samples}/parks.geojson`, "p.csv", "--report", "p.html").status).toBe(0);
    writeFileSync(`${folder}/other.html`, "<p>mine</p>");
    const refused = convert(folder, `${samples}/parks.geojson`, "q.csv", "--report", "other.html");
    expect([refused.status, existsSync(`${folder}/q.csv`)]).toEqual([2, false]);
  });

  test.each([
    ["p.txt", "name a file that ends with .html or .json"],
    ["out.json", "out.json is a file of the conversion"],
  ])("%s is refused", (path, reason) => {
    const { status, stderr } = convert(
      newFolder(),
      `${samples}/parks.geojson`,
      "out.json",
      "--to",
      "geojson",
      "--report",
      path,
    );
    expect([status, stderr]).toEqual([2, expect.stringContaining(reason)]);
  });

  test("a report that cannot be written stops the conversion before it starts", () => {
    const folder = newFolder();
    writeFileSync(`${folder}/file`, "");
    const { status, stderr } = convert(folder, `${samples}/parks.geojson`, "out.csv", "--report", "file/r.json");
    expect([status, stderr]).toEqual([6, expect.stringContaining("file/r.json: cannot be written")]);
    expect(readdirSync(folder)).toEqual(["file"]);
  });

  test("the check of the report leaves no folder behind", () => {
    const folder = newFolder();
    expect(convert(folder, "missing.geojson", "out.csv", "--report", "new/r.json").status).toBe(3);
    expect(existsSync(`${folder}/new/r.json`)).toBe(true);
    expect(readdirSync(`${folder}/new`)).toEqual(["r.json"]);
  });

  test("a report that fails after the conversion does not claim that nothing is left", async () => {
    const folder = newFolder();
    writeFileSync(`${folder}/file`, "");
    const failure = writeProtocol(`${folder}/file/r.json`, {} as Protocol);
    await expect(failure).rejects.toMatchObject({
      code: "report-failed",
      message: expect.stringMatching(
        /: the report cannot be written: [^;]+; what was written before it is complete and stays$/,
      ),
    });
  });

  test
    .skipIf(process.platform !== "linux")
    .each([["out.csv", "--report", "/proc/nope/r.json"], ["/proc/nope/out.csv"]])(
    "%s %s %s: a folder that the system refuses with ENOENT ends the command",
    (...args) => {
      const folder = newFolder();
      const { status, stderr } = convert(folder, `${samples}/parks.geojson`, ...args);
      expect([status, stderr]).toEqual([6, expect.stringContaining("/proc/nope/")]);
      expect(readdirSync(folder)).toEqual([]);
    },
  );
});

describe("verify: true in a job", () => {
  const job = (folder: string) =>
    geoferry(["run", "job.yaml", "--report", "r.json", "--plugin", plugin, "--state", "state"], { cwd: folder });

  test("a step counts what was verified", () => {
    const folder = newFolder();
    input(folder, ["a", "b"]);
    writeFileSync(
      `${folder}/job.yaml`,
      "name: j\nsteps:\n  - {name: s, source: in.geojson, target: out.lines, verify: true}\n",
    );
    expect(job(folder).status).toBe(0);
    expect(JSON.parse(readFileSync(`${folder}/r.json`, "utf8")).steps).toMatchObject([
      { counts: { written: 2, verified: 2 } },
    ]);
  });

  test("a step fails with 6, in the words of the job", () => {
    const folder = newFolder();
    input(folder, ["a", "forget me"]);
    writeFileSync(
      `${folder}/job.yaml`,
      "name: j\nsteps:\n  - {name: s, source: in.geojson, target: out.lines, verify: true}\n",
    );
    const { status, stderr } = job(folder);
    expect(status).toBe(6);
    expect(stderr).not.toContain("--verify");
    expect(existsSync(`${folder}/out.lines`)).toBe(false);
  });
});
