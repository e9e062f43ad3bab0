import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Spool } from "../../../src/io/input/spool.js";
import { checkNotStale } from "../../../src/sync/plan/check-not-stale.js";
import type { OpenPlan, PlanAction, PlanFileHeader } from "../../../src/sync/plan/plan.js";
import { readCreates } from "../../../src/sync/plan/plan-creates.js";
import { openPlan } from "../../../src/sync/plan/plan-reader.js";
import { PlanWriter } from "../../../src/sync/plan/plan-writer.js";
import { pointFeature, request } from "../diff-scenario.js";

let folder: string;
let path: string;
let spool: Spool;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "geoferry-plan-"));
  path = join(folder, "plan.ndjson");
  spool = new Spool();
});
afterEach(async () => {
  await spool[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const sha256 = "0".repeat(64);
const { scope, precision, replaceProperties, unmanaged, updateWith, settleTime, singleRead, guards } = request;
const header: PlanFileHeader = {
  type: "plan",
  version: 2,
  service: "https://maps.example.org",
  map: "m",
  mode: "full",
  key: { by: "property", name: "ref" },
  settings: {
    scope,
    precision,
    replaceProperties,
    unmanaged,
    updateWith,
    settleTime,
    singleRead,
    guards: { ...guards, maxDelete: { text: "5%", count: Number.POSITIVE_INFINITY, share: 0.05 } },
  },
  source: {
    inputs: ["in/é.csv"],
    fingerprint: "ab",
    features: 3,
    complete: true,
    rejected: 0,
    unidentified: 0,
    gaps: 0,
    files: [{ path: "in/é.csv", size: 12, sha256 }],
  },
  snapshot: { etag: '"1"', fingerprint: "cd", features: 2 },
};

const planned = (longitude: number, ref: string) =>
  ({ type: "Feature", ...pointFeature(longitude, 0, { ref, text: "a\u2028b\nc" }) }) as const;
const agreement = { name: "a", sent: "00".repeat(16) };
const actions: PlanAction[] = [
  { action: "create", key: "a", feature: planned(1, "a"), agreement },
  {
    action: "update",
    id: "id-b",
    key: "b",
    page: 1,
    changed: ["geometry"],
    before: { ...planned(2, "b"), id: "id-b" },
    feature: planned(3, "b"),
    agreement,
  },
  { action: "delete", id: "id-c", key: "c", before: { ...planned(4, "c"), id: "id-c" } },
  { action: "keep", why: "only-on-map", id: "id-d", key: 7 },
];

async function write(put = false): Promise<string[]> {
  await using writer = await PlanWriter.create(path, header, true);
  for (const action of actions) await writer.add(action);
  await writer.finish(() => put);
  return readFileSync(path, "utf8").split("\n");
}

async function all(plan: OpenPlan, kinds?: readonly PlanAction["action"][]): Promise<PlanAction[]> {
  const found: PlanAction[] = [];
  for await (const action of plan.actions(kinds)) found.push(action);
  return found;
}
const read = async (kinds?: readonly PlanAction["action"][]) => all(await openPlan(path, spool), kinds);

describe("a plan", () => {
  test.each([true, false])("a plan is read as it was written (put: %s)", async (put) => {
    const lines = await write(put);
    expect(lines.slice(1, 5).map((line) => JSON.parse(line))).toEqual(actions);
    const plan = await openPlan(path, spool);
    expect(plan.header).toEqual({ ...header, put });
    expect(plan.counts).toMatchObject({ create: 1, update: 1, delete: 1, onlyOnMap: 1, same: 0 });
    expect(await read()).toEqual(actions);
  });

  test("a plan is applied as it was read, even if its file changes", async () => {
    await write();
    const plan = await openPlan(path, spool);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("id-c", "id-d"));
    expect(await all(plan)).toEqual(actions);
  });

  test("the last line contains the digest of the others", async () => {
    const lines = (await write()).filter((line) => line !== "");
    const before = lines.slice(0, -1).map((line) => `${line}\n`);
    const sha256 = createHash("sha256").update(before.join("")).digest("hex");
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ type: "end", put: false, sha256 });
  });

  test("a plan yields the requested kinds of actions, repeatedly", async () => {
    await write();
    expect(await read(["update", "create"])).toEqual(actions.slice(0, 2));
    expect(await read(["keep"])).toEqual(actions.slice(3));
    expect(await read([])).toEqual([]);
  });

  test("a plan yields creates with texts but without ids, whether written or opened", async () => {
    const odd = ',"feature":{"agreement":1},"agreement":';
    const creates: PlanAction[] = [
      { action: "create", key: "a", feature: planned(1, "a"), agreement },
      { action: "create", key: odd, feature: planned(2, odd), agreement: { ...agreement, name: odd } },
      { action: "create", key: 7, feature: { ...planned(3, "c"), id: "id-c" }, agreement: null },
      { action: "create", key: null, feature: { type: "Feature", geometry: null, properties: {} }, agreement: null },
    ];
    await using writer = await PlanWriter.create(path, header, true);
    for (const action of [...creates, ...actions.slice(1)]) await writer.add(action);
    const written = await writer.finish(() => false);
    for (const plan of [written, await openPlan(path, spool)]) {
      const found = [];
      for await (const group of readCreates(plan)) found.push(...group);
      expect(found.map(({ action }) => action)).toEqual(creates);
      expect(found.map(({ ordinal, key, agreement }) => ({ ordinal, key, agreement }))).toEqual(
        creates.map((action, ordinal) => ({
          ordinal,
          key: action.key,
          agreement: "agreement" in action && action.agreement,
        })),
      );
      expect(found.map(({ text }) => JSON.parse(text))).toEqual([
        planned(1, "a"),
        planned(2, odd),
        planned(3, "c"),
        { type: "Feature", geometry: null, properties: {} },
      ]);
    }
  });

  test("an unfinished plan leaves no file", async () => {
    {
      await using writer = await PlanWriter.create(path, header, false);
      await writer.add(actions[0]!);
    }
    expect(readdirSync(folder)).toEqual([]);
  });

  test("a plan does not replace a file by default", async () => {
    writeFileSync(path, "mine");
    await expect(PlanWriter.create(path, header, false)).rejects.toMatchObject({ code: "output-exists" });
    expect(readFileSync(path, "utf8")).toBe("mine");
  });
});

const edited = "its digest does not match its lines";

describe("invalid plans", () => {
  const refusal = async (): Promise<string> => {
    const error = await openPlan(path, spool).then(
      () => null,
      (thrown: unknown) => thrown as Error,
    );
    return error?.message.replace(path, "P") ?? "accepted";
  };

  test("a plan truncated at any byte is rejected", async () => {
    const text = (await write()).join("\n");
    const bytes = Buffer.from(text);
    for (let length = 0; length < bytes.length - 1; length += 7) {
      writeFileSync(path, bytes.subarray(0, length));
      expect(await refusal(), `${length} bytes`).toMatch(/^P, line \d: not a complete plan: .+; create a new plan/);
    }
  });

  test.each<[string, (lines: string[]) => void, string]>([
    [
      "a missing line",
      (lines) => lines.splice(3, 1),
      "line 5: not a complete plan: the count of delete is 1, but the lines add up to 0",
    ],
    [
      "a repeated line",
      (lines) => lines.splice(1, 0, lines[1]!),
      "the count of create is 1, but the lines add up to 2",
    ],
    [
      "a wrong order",
      (lines) => lines.splice(1, 3, lines[3]!, lines[1]!, lines[2]!),
      "wrong order: create after delete",
    ],
    [
      "lines after the end",
      (lines) => lines.push(lines[1]!),
      "line 7: not a complete plan: there are lines after its end",
    ],
    [
      "another kind of file",
      (lines) => lines.splice(0, 1, '{"type":"FeatureCollection"}'),
      "line 1: not a complete plan: it does not start with the header of a plan",
    ],
    [
      "invalid JSON",
      (lines) => lines.splice(2, 1, "{"),
      "line 3: not a complete plan: the line is not a complete JSON object",
    ],
    [
      "a later version",
      (lines) => (lines[0] = lines[0]!.replace('"version":2', '"version":3')),
      "the plan has version 3, but this geoferry supports version 2",
    ],
    [
      "an unknown mode",
      (lines) => (lines[0] = lines[0]!.replace('"full"', '"fill"')),
      "line 1: not a complete plan: mode ",
    ],
    [
      "an unknown action",
      (lines) => (lines[3] = lines[3]!.replace('"delete"', '"drop"')),
      '"action" must be one of create, update, delete, keep',
    ],
    [
      "an id that is not a string",
      (lines) => (lines[3] = lines[3]!.replace('"id":"id-c"', '"id":7')),
      "line 4: not a complete plan: id must be string",
    ],
    [
      "an invalid position",
      (lines) => (lines[1] = lines[1]!.replace("[1,0]", '["1",0]')),
      "line 2: not a complete plan: feature.geometry is not a geometry in longitude and latitude",
    ],
    [
      "a latitude beyond the pole",
      (lines) => (lines[2] = lines[2]!.replace("[2,0]", "[2,91]")),
      "line 3: not a complete plan: before.geometry is not",
    ],
    [
      "a count that is not a number",
      (lines) => (lines[5] = lines[5]!.replace('"create":1', '"create":"1"')),
      "counts.create must be integer",
    ],
    ["an edited value", (lines) => (lines[1] = lines[1]!.replace('"ref":"a"', '"ref":"z"')), edited],
    ["an edited position", (lines) => (lines[2] = lines[2]!.replace("[3,0]", "[4,0]")), edited],
    ["an edited delete", (lines) => (lines[3] = lines[3]!.replaceAll("id-c", "id-d")), edited],
    ["an edited guard", (lines) => (lines[0] = lines[0]!.replace('"share":0.05', '"share":1')), edited],
    ["other formatting", (lines) => (lines[1] = lines[1]!.replace(":[1,0]", ": [1, 0]")), edited],
    [
      "another member order",
      (lines) => (lines[4] = JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(lines[4]!)).reverse()))),
      edited,
    ],
    ["a wrong digest", (lines) => (lines[5] = lines[5]!.replace(/"sha256":"..../, '"sha256":"0000')), edited],
    [
      "a missing digest",
      (lines) => (lines[5] = lines[5]!.replace(/,"sha256":"\w+"/, "")),
      "line 6: not a complete plan: end must have required properties sha256",
    ],
  ])("rejects a plan: %s", async (_, change, expected) => {
    const lines = (await write()).filter((line) => line !== "");
    change(lines);
    writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
    expect(await refusal()).toContain(expected);
  });

  test("a plan reports a missing plan", async () => {
    expect(existsSync(path)).toBe(false);
    await expect(openPlan(path, spool)).rejects.toMatchObject({ code: "input-missing" });
  });
});

describe("stale plans", () => {
  const plan = { path: "p", header: { ...header, put: false } };
  const now = {
    service: "https://maps.example.org/",
    snapshot: { fingerprint: "cd", features: 2 },
    files: header.source.files,
  };
  const [file] = header.source.files;

  test("an unchanged plan is not stale", () => {
    expect(() => checkNotStale(plan, now)).not.toThrow();
  });

  test.each<[string, Partial<typeof now>, string]>([
    [
      "a changed source",
      { files: [{ ...file!, size: 1300, sha256: "1".repeat(64) }] },
      "in/é.csv has changed (12 bytes, now 1,300 bytes)",
    ],
    ["a changed source of equal size", { files: [{ ...file!, sha256: "1".repeat(64) }] }, "in/é.csv has changed"],
    [
      "a missing source",
      { files: [] },
      `in/é.csv is not in ${process.cwd()}; if it was not deleted, apply the plan in the folder where it was made`,
    ],
    ["a new companion file", { files: [file!, { ...file!, path: "in/é.prj" }] }, "in/é.prj is new"],
    [
      "a new feature on the map",
      { snapshot: { fingerprint: "ce", features: 3 } },
      "map m has changed (2 features, now 3 features)",
    ],
    ["a changed feature on the map", { snapshot: { fingerprint: "ce", features: 2 } }, "map m has changed"],
    [
      "another service",
      { service: "https://other.example.org" },
      "the plan is for https://maps.example.org, but the service is now https://other.example.org",
    ],
  ])("a plan is stale: %s", (_, change, expected) => {
    expect(() => checkNotStale(plan, { ...now, ...change })).toThrow(
      expect.objectContaining({
        code: "plan-stale",
        kind: "conflict",
        message: `p: the plan is out of date; nothing was sent; create a new plan with geoferry plan: ${expected}`,
      }),
    );
  });
});
