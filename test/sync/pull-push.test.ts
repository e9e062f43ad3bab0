/** Pulls a map into a file of each format and pushes it back: nothing changes. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { createPlace, findFixtureKinds, type Place, type SyncFixture } from "../support/sync/sync-fixture.js";

const [sqlite] = await findFixtureKinds();
let world: SyncFixture;
beforeAll(async () => {
  world = await sqlite!.start();
});

/** Values that every format can store: texts that do not look like numbers or dates, and numbers. */
const held: readonly Place[] = Array.from({ length: 30 }, (_, n) =>
  createPlace(`k${n}`, { name: `Zürich "${n}", <b>`, count: n * 7, share: n + 0.25 }),
);

async function mapOf(places: readonly Place[]): Promise<string> {
  const map = await world.newMap();
  await world.fill(map, places);
  return map;
}

async function pulled(map: string, extension: string): Promise<string> {
  const path = join(world.folder, `${map}.${extension}`);
  const { status, stderr } = await world.geoferry(["pull", path, "--map", map]);
  expect(status, stderr).toBe(0);
  return path;
}

/** @returns the counts of the plan, and the output */
async function planned(path: string, map: string, ...flags: readonly string[]) {
  const result = await world.geoferry(["plan", path, "--map", map, "--json", ...flags]);
  const records = result.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly type: string; readonly counts?: object; readonly code?: string });
  return {
    status: result.status,
    output: result.stdout + result.stderr,
    records,
    counts: records.find(({ type }) => type === "plan")?.counts,
  };
}

const nothing = { create: 0, update: 0, delete: 0, same: held.length };

describe.each([
  ["geojson", []],
  ["geojsonl", []],
  ["csv", []],
  ["gpkg", []],
  ["shp", []],
  ["kml", []],
  // Otherwise a property would record what was a waypoint.
  ["gpx", ["--in", "gpxType=false"]],
])("%s", (extension, reading) => {
  test("pushing a pulled file by key, by the best key and by id changes nothing", async () => {
    const map = await mapOf(held);
    const path = await pulled(map, extension);
    for (const flags of [["--remote-field", "ref"], [], ["--match", "id"]]) {
      const { counts, output } = await planned(path, map, "--mode", "full", ...reading, ...flags);
      expect(counts, `${flags.join(" ")}\n${output}`).toMatchObject(nothing);
    }
  });
});

describe("a column of ids", () => {
  const lines = (path: string) => readFileSync(path, "utf8").trimEnd().split(/\r?\n/);

  test("a column of ids is reported and used as ids; new rows have none", async () => {
    const map = await mapOf(held);
    const path = await pulled(map, "csv");
    const [head, row, ...rest] = lines(path);
    expect(head).toMatch(/^lon,lat,id,/);
    const changed = row!.replace("0.25", "99.5");
    const added = row!.replace(/^([^,]*,[^,]*),[^,]*/, "$1,").replace("k0", "new");
    writeFileSync(path, [head, changed, added, ...rest].map((line) => `${line}\n`).join(""));
    const result = await world.geoferry(["push", path, "--map", map, "--remote-field", "ref"]);
    expect(result.status, result.stderr).toBe(0);
    expect(result.stderr).toContain("ids-of-map of id");
    const after = await world.features(map);
    expect(after.filter(({ properties }) => "id" in properties)).toEqual([]);
    const found = new Map(after.map(({ properties }) => [properties.ref, properties.share]));
    expect([after.length, found.get("k0"), found.get("new")]).toEqual([31, 99.5, 0.25]);
  });

  test("a column of ids is distinguished from a property of the same name", async () => {
    const map = await mapOf(held.map((one, n) => ({ ...one, properties: { ...one.properties, id: n } })));
    const path = await pulled(map, "csv");
    expect(lines(path)[0]).toMatch(/\bid_1\b/);
    const { counts, output } = await planned(path, map, "--remote-field", "ref");
    expect(counts, output).toMatchObject(nothing);
    expect(output).toContain('"field":"id_1"');
  });

  test("with UUIDs from elsewhere is a property", async () => {
    const map = await mapOf([]);
    const uuid = (n: number) => `6f1d7a52-3c1e-4b7f-9f0a-${String(n).padStart(12, "0")}`;
    const own = held.map((one, n) => ({ ...one, properties: { ...one.properties, id: uuid(n) } }));
    expect((await world.geoferry(["push", world.source(own), "--map", map])).status).toBe(0);
    expect((await world.features(map)).map(({ properties }) => properties.id).sort()).toEqual(
      held.map((_, n) => uuid(n)),
    );
    const more = { ...own[0]!, properties: { ...own[0]!.properties, ref: "k30", id: uuid(30) } };
    const { counts, output } = await planned(world.source([...own, more]), map);
    expect(counts, output).toMatchObject({ ...nothing, create: 1 });
    expect(output).not.toContain("ids-of-map");
  });

  test("a column of ids is rejected as a key, with advice", async () => {
    const map = await mapOf(held);
    const path = await pulled(map, "csv");
    const asked = await planned(path, map, "--remote-field", "id");
    expect(asked.status).toBe(7);
    expect(asked.output).toMatch(/create all of them again; use --match id to match features by their ids/);
    const bare = await mapOf(held.map((one) => ({ ...one, properties: { name: "the same" } })));
    const undecided = await planned(await pulled(bare, "csv"), bare);
    expect(undecided.status).toBe(3);
    expect(undecided.output).toMatch(
      /match features by the ids of the service, which the source contains, with --match id/,
    );
  });
});
