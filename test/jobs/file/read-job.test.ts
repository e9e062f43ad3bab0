/** Parsing of job files, and errors with their positions. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseCodeBlocks } from "../../../src/build/docs-site/docs-sandbox.mjs";
import { readJob } from "../../../src/jobs/file/read-job.js";
import { defaultSyncSettings } from "../../../src/sync/request.js";
import { root } from "../../support/command.js";

const read = (text: string, environment: NodeJS.ProcessEnv = {}) => readJob(text, "job.yaml", environment);

/** A job with one step, which starts on line 3. */
const step = (...lines: readonly string[]): string =>
  ["name: nightly", "steps:", "  - name: a", ...lines.map((line) => `    ${line}`), ""].join("\n");

const refusal = (text: string, environment: NodeJS.ProcessEnv = {}): string => {
  try {
    read(text, environment);
  } catch (error) {
    expect(error).toMatchObject({ code: "job-invalid", kind: "usage" });
    return (error as Error).message;
  }
  throw new Error("the job was accepted");
};

test("a job that is nested too deeply is an error, in flow and in block style", () => {
  for (const text of ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(100_000)])
    expect(refusal(text)).toMatch(/job\.ya?ml.*nested more than 200 levels deep/);
});

test("a step with a file target becomes a conversion with the options of the command line", () => {
  const { steps } = read(
    step(
      "source: [a.csv, in/*.csv]",
      "target: out/",
      "to: gpkg",
      "sourceCrs: EPSG:2154",
      "layer: places",
      "select: [name, ref]",
      "rename: {old: new}",
      "cast: {ref: text}",
      "bbox: [5, 45, 17, 55]",
      "in: {delimiter: semicolon, header: yes}",
      "maxRejects: 5%",
      "reproject: true",
      "timeout: 5m",
      "retries: 0",
    ),
  );
  expect(steps).toEqual([
    {
      kind: "conversion",
      name: "a",
      needs: [],
      retries: 0,
      // `retries: 0` also disables retries of single requests.
      network: { retries: 0 },
      retryDelay: 10_000,
      timeout: 300_000,
      line: 3,
      always: false,
      maxDecrease: null,
      request: {
        inputs: ["a.csv", "in/*.csv"],
        output: "out/",
        to: "gpkg",
        sourceCrs: "EPSG:2154",
        layers: ["places"],
        select: ["name", "ref"],
        rename: { old: "new" },
        cast: { ref: "text" },
        bbox: [5, 45, 17, 55],
        readerOptions: { delimiter: "semicolon", header: "yes" },
        maxRejects: "5%",
        reproject: true,
      },
    },
  ]);
});

test("a step with a map target becomes a sync with the default settings of push", () => {
  const { steps } = read(
    step("source: p.gpkg", "where: ref > 3", 'target: {map: "7c0", mode: full, remoteField: ref, maxDelete: 5%}'),
  );
  expect(steps[0]).toMatchObject({
    kind: "sync",
    backup: null,
    request: {
      ...defaultSyncSettings,
      source: { inputs: ["p.gpkg"], where: "ref > 3" },
      map: "7c0",
      mode: "full",
      matching: { by: "property", name: "ref" },
      guards: { ...defaultSyncSettings.guards, maxDelete: { text: "5%", share: 0.05 } },
    },
  });
});

test("a step inherits the settings of its job and may override them", () => {
  const { steps, parallel } = read(
    "name: n\nparallel: 3\nretries: 7\nsteps:\n  - {name: a, source: a, target: b}\n  - {name: c, source: c, target: d, retries: 1}\n",
  );
  expect(parallel).toBe(3);
  expect(steps.map(({ retries }) => retries)).toEqual([7, 1]);
});

describe("environment variables in job files", () => {
  test("references to variables work in strings, numbers and booleans", () => {
    const text = step(
      "source: ${DIR}/a.csv",
      "target: ${OUT:-out}/b.csv",
      "limit: ${MOST}",
      "strict: ${STRICT}",
      "where: name = '$$5'",
    );
    const { steps } = read(text, { DIR: "/data", MOST: "10", STRICT: "true" });
    expect(steps[0]!.request).toMatchObject({
      inputs: ["/data/a.csv"],
      output: "out/b.csv",
      limit: 10,
      strict: true,
      where: "name = '$5'",
    });
  });

  test("references in the contents of variables are not resolved", () => {
    const { steps } = read(step("source: ${A}", "target: b.csv"), { A: "${B}" });
    expect(steps[0]!.request).toMatchObject({ inputs: ["${B}"] });
  });

  test.each([
    ["source: ${NOWHERE}", "4:13", "the environment variable NOWHERE is not set"],
    ["source: ${}", "4:13", "${NAME}"],
  ])("the reference in %s is refused with its position", (line, at, reason) => {
    const message = refusal(step(line, "target: b.csv"));
    expect(message).toContain(`job.yaml:${at}: `);
    expect(message).toContain(reason);
  });

  test("a secret must be a reference to a variable", () => {
    const job = (secret: string) =>
      `name: n\nservice:\n  clientSecret: ${secret}\nsteps:\n  - {name: a, source: a, target: b}\n`;
    expect(read(job("${S}"), { S: "hush" }).service).toEqual({ clientSecret: "hush" });
    expect(refusal(job("hush"))).toBe(
      "job.yaml:3:17: service.clientSecret: job files must not contain secrets; write ${GEOFERRY_CLIENT_SECRET} and set that variable",
    );
    expect(refusal(job('"${A}${B}"'), { A: "1", B: "2" })).toContain("3:17");
  });
});

describe("errors in job files", () => {
  test.each([
    ["a misspelled member", step("sorce: a", "target: b"), '4:5: a step has no "sorce"; did you mean "source"?'],
    ["an unknown member", step("source: a", "colour: red"), '5:5: a step has no "colour"; it has name, source'],
    ["a missing member", step("source: a"), '3:5: steps[1]: a step needs "target"'],
    [
      "a value of the wrong type",
      step("source: a", "target: b", "limit: many"),
      '6:12: steps[1].limit: "many" is not a whole number from 0',
    ],
    [
      "a number in place of a string",
      step("source: a", "target: {map: 7e5}"),
      "5:19: steps[1].target.map: YAML reads 700000 as a number; write it in quotes",
    ],
    [
      "an unknown choice",
      step("source: a", "target: {map: m, mode: fully}"),
      '"fully" is not one of incremental, full, append',
    ],
    [
      "an invalid limit",
      step("source: a", "target: {map: m, maxDelete: 105%}"),
      '"105%" is not a number like 100 or a percentage like 5%',
    ],
    ["an invalid duration", step("source: a", "target: b", "timeout: soon"), '"soon" is not a time like 30s, 5m or 2h'],
    [
      "a duration beyond the limit of timers",
      step("source: a", "target: b", "timeout: 30d"),
      '"30d" is not a time of at most 24d',
    ],
    ["an incomplete box", step("source: a", "target: b", "bbox: [1, 2, 3]"), "[1,2,3] is not a list of minX"],
    [
      "an unknown field type",
      step("source: a", "target: b", "cast: {n: number}"),
      '"number" is not one of boolean, int32',
    ],
    ["stdin as source", step("source: '-'", "target: b"), "3:5: steps[1]: a job cannot read stdin"],
    [
      "a map target as a string",
      step("source: a", "target: map:7c0"),
      "5:13: steps[1].target: write a map target as {map: 7c0, mode: …}",
    ],
    [
      "a file option for a map target",
      step("source: a", "target: {map: m}", "overwrite: true"),
      "6:5: overwrite is an option for file targets",
    ],
    [
      "options that exclude each other",
      step("source: a", "target: b", "append: true", "overwrite: true"),
      "append and overwrite exclude each other",
    ],
    ["a duplicate key", step("source: a", "source: b"), "5:5: Map keys must be unique"],
    ["invalid YAML", "name: [", "job.yaml:1:8: "],
    ["no steps", "name: n\nsteps: []\n", "2:8: steps: [] is not a list of steps"],
    ["a list in place of a job", "- a\n", "1:1: the job: "],
    ["an empty file", "", "1:1: the job: null is not"],
    [
      "two steps with the same name",
      "name: n\nsteps:\n  - {name: a, source: a, target: b}\n  - {name: a, source: c, target: d}\n",
      '4:5: steps[2]: an earlier step is named "a"',
    ],
    [
      "rejects of two steps in one file, also by their names",
      "name: n\nsteps:\n  - {name: a/b, source: a, target: {map: m}}\n  - {name: a-b, source: c, target: {map: m}}\n",
      '4:5: steps[2]: step "a/b" has the same file for rejects, a-b.rejects.geojsonl; name another one with rejects',
    ],
    [
      "rejects of two steps in one file",
      "name: n\nsteps:\n  - {name: a, source: a, target: b, rejects: r}\n  - {name: b, source: c, target: d, rejects: ./r}\n",
      '4:5: steps[2]: step "a" has the same file for rejects, r; name another one with rejects',
    ],
    [
      "a need for a later step",
      "name: n\nsteps:\n  - {name: a, source: a, target: b, needs: b}\n  - {name: b, source: c, target: d}\n",
      '3:5: steps[1]: needs "b", which is not an earlier step',
    ],
  ])("%s is reported with its position", (_, text, message) => {
    expect(refusal(text)).toContain(message);
  });

  test("errors behind anchors and aliases are reported with their positions", () => {
    const text = "name: n\nsteps:\n  - &first {name: a, source: a, target: b, limit: x}\n";
    expect(refusal(text)).toContain("3:51: steps[1].limit");
    const shared = "name: n\nsteps:\n  - &all {name: a, source: a, target: b}\n  - {<<: *all, name: c, target: d}\n";
    expect(read(shared).steps.map(({ name, request }) => [name, "inputs" in request && request.inputs])).toEqual([
      ["a", ["a"]],
      ["c", ["a"]],
    ]);
  });

  test.each([
    "name: &name n\nsteps: &steps\n  - *steps\n",
    "name: n\nsteps:\n  - &step {name: a, source: a, target: b, in: {x: *step}}\n",
  ])("an alias to the value that contains it is refused", (text) => {
    expect(refusal(text)).toContain("an alias refers to a value that contains the alias");
  });

  test("exponential alias expansion is refused", () => {
    const lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
    for (const [i, name] of ["b", "c", "d", "e", "f", "g"].entries()) {
      const before = `*${"abcdef"[i]}`;
      lines.push(`${name}: &${name} [${Array(10).fill(before).join(", ")}]`);
    }
    expect(refusal(lines.join("\n"))).toContain("alias");
  });
});

describe("job files in samples and docs", () => {
  test.each(["nightly.yaml", "map.yaml", "bucket.yaml"])("samples/jobs/%s is a valid job", (name) => {
    const text = readFileSync(join(root, "samples/jobs", name), "utf8");
    const environment = {
      MAP: "m",
      BUCKET: "b",
      GEOFERRY_URL: "https://x",
      GEOFERRY_CLIENT_ID: "i",
      GEOFERRY_CLIENT_SECRET: "s",
    };
    expect(read(text, environment).steps.length).toBeGreaterThan(1);
  });

  test("the examples of docs/jobs.md are valid jobs", () => {
    const blocks = parseCodeBlocks(readFileSync(join(root, "docs/jobs.md"), "utf8")).filter(
      ({ info }) => info === "yaml",
    );
    expect(blocks.length).toBeGreaterThan(0);
    for (const { text } of blocks) expect(read(text).steps.length).toBeGreaterThan(0);
  });
});

test("an address is refused for files that must be local", () => {
  const map = (member: string) => step("source: a.csv", `target: {map: 7c0${member}}`);
  expect(refusal(map(", backup: s3://bucket/kept/"))).toContain("job.yaml:5");
  expect(refusal(map(", backup: s3://bucket/kept/"))).toContain("s3://bucket/kept/ is an address");
  expect(refusal(step("source: a.csv", "target: {map: 7c0}", "rejects: s3://bucket/bad.geojsonl"))).toContain(
    "rejects",
  );
  expect(read(step("source: a.csv", "target: out/", "rejects: s3://bucket/bad.geojsonl")).steps).toHaveLength(1);
  for (const member of ["report", "page", "metrics"])
    expect(refusal(`${member}: https://user:hidden@example.org/a\n${step("source: a.csv", "target: out/")}`)).toMatch(
      new RegExp(`job.yaml:1.*${member}: must be a local file or folder, and https://example.org/a is an address`),
    );
});
