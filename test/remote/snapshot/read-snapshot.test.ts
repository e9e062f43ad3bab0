/** Reads maps from conforming services, also while other clients write. */
import { readdirSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { Workspace } from "../../../src/compare/workspace.js";
import { createError } from "../../../src/errors.js";
import { Spool } from "../../../src/io/input/spool.js";
import { Kind } from "../../../src/model/geometry.js";
import type { MapClient, MapPage } from "../../../src/remote/client/map-client.js";
import {
  readSnapshot,
  type SnapshotProgress,
  type SnapshotSettings,
} from "../../../src/remote/snapshot/read-snapshot.js";
import type { WireFeature } from "../../../src/remote/wire.js";

const rounding = { degrees: 7, metres: 3 };

const feature = (n: number, more: Partial<WireFeature> = {}): WireFeature => ({
  type: "Feature",
  id: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
  geometry: { type: "Point", coordinates: [n / 1000, 1] },
  properties: { n },
  ...more,
});

const features = (count: number): WireFeature[] => Array.from({ length: count }, (_, n) => feature(n + 1));

/** A map with scripted pages; all other methods are unused. */
class ScriptedMap implements Pick<MapClient, "id" | "url" | "page"> {
  readonly id = "m1";
  readonly url = "http://service.test";
  readonly asked: number[] = [];

  constructor(private readonly answer: (number: number, request: number) => Partial<MapPage> | null) {}

  async page(number: number): Promise<MapPage | null> {
    this.asked.push(number);
    const page = this.answer(number, this.asked.length);
    return page && { features: [], etag: null, ...page };
  }

  /** As a full client; a snapshot only reads. */
  get client(): MapClient {
    const never = async () => {
      throw new Error("a snapshot writes");
    };
    return {
      id: this.id,
      url: this.url,
      page: (number) => this.page(number),
      create: never,
      update: never,
      replaceAll: never,
      remove: never,
    };
  }
}

const pageOf = (all: readonly WireFeature[], number: number) => all.slice((number - 1) * 500, number * 500);

const steadyMap = (all: readonly WireFeature[], etag: string | null = null) =>
  new ScriptedMap((number) => ({ features: pageOf(all, number), etag }));

async function workspace(): Promise<Workspace> {
  const spool = new Spool();
  const made = await Workspace.create(spool);
  onTestFinished(async () => {
    made[Symbol.dispose]();
    await spool[Symbol.asyncDispose]();
  });
  return made;
}

async function snapshotOf(map: ScriptedMap, settings: Partial<SnapshotSettings> = {}) {
  const space = await workspace();
  const snapshot = await readSnapshot(map.client, space, { rounding, ...settings });
  const held = [...space.map.rows()].map((row) => JSON.parse(space.map.textOf(row)) as WireFeature);
  return { snapshot, held, space };
}

const numbersIn = (held: readonly WireFeature[]) => held.map(({ properties }) => properties.n as number);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

describe("readSnapshot requests", () => {
  test.each([
    [0, 1],
    [1, 1],
    [499, 1],
    [500, 2],
    [501, 2],
    [1000, 3],
    [1200, 3],
  ])("%i features with one entity tag take %i requests", async (count, requests) => {
    const map = steadyMap(features(count), '"7"');
    const { snapshot, held } = await snapshotOf(map);
    expect(map.asked).toEqual(upTo(requests));
    expect(numbersIn(held)).toEqual(upTo(count));
    expect(snapshot).toMatchObject({ features: count, etag: '"7"' });
  });

  test.each([
    [0, 1],
    [499, 1],
    [500, 4],
    [1200, 6],
  ])("%i features without a tag take %i requests, since several pages are read twice", async (count, requests) => {
    const map = steadyMap(features(count));
    const { snapshot, held } = await snapshotOf(map);
    expect(map.asked).toHaveLength(requests);
    expect(numbersIn(held)).toEqual(upTo(count));
    expect(snapshot).toMatchObject({ features: count, etag: null });
  });

  test.each([200, 100, 10])("a service that returns %i features per page is read completely", async (size) => {
    for (const etag of ['"7"', null]) {
      const all = features(3 * size + 7);
      const map = new ScriptedMap((number) => ({ features: all.slice((number - 1) * size, number * size), etag }));
      const { snapshot } = await snapshotOf(map);
      expect(snapshot.features).toBe(3 * size + 7);
    }
  });

  test("a map of as many features takes one more request", async () => {
    const map = steadyMap(features(200), '"7"');
    expect((await snapshotOf(map)).snapshot.features).toBe(200);
    expect(map.asked).toEqual([1, 2]);
  });

  test("a page with a link to the next one is not the last, however short it is", async () => {
    const pages = [features(3), [], features(7).slice(3)];
    const map = new ScriptedMap((number) => ({
      features: pages[number - 1] ?? [],
      etag: '"7"',
      hasNext: number < pages.length,
    }));
    const { held } = await snapshotOf(map);
    expect(numbersIn(held)).toEqual(upTo(7));
    expect(map.asked).toEqual([1, 2, 3]);
  });

  test("reads pages once with singleRead", async () => {
    const map = steadyMap(features(1200));
    await snapshotOf(map, { singleRead: true });
    expect(map.asked).toEqual([1, 2, 3]);
  });
});

describe("entity tags", () => {
  test("tags that differ between pages are not tags of the map", async () => {
    const map = new ScriptedMap((number) => ({ features: pageOf(features(600), number), etag: `"page ${number}"` }));
    const { snapshot } = await snapshotOf(map);
    expect(map.asked).toEqual([1, 2, 1, 2]);
    expect(snapshot.etag).toBeNull();
  });

  test("weak and strong tags denote the same state, as when a proxy compresses some responses", async () => {
    const map = new ScriptedMap((number) => ({
      features: pageOf(features(600), number),
      etag: number === 1 ? 'W/"5"' : '"5"',
    }));
    const { snapshot } = await snapshotOf(map);
    expect(map.asked).toEqual([1, 2]);
    expect(snapshot.etag).toBe('W/"5"');
  });

  test("an unchanged tag skips the reading", async () => {
    const map = new ScriptedMap(() => null);
    const space = await workspace();
    expect(await readSnapshot(map.client, space, { rounding, ifNoneMatch: '"7"' })).toBeNull();
    expect(map.asked).toEqual([1]);
    expect(readdirSync(space.folder).filter((name) => name.endsWith(".ndjson"))).toEqual([]);
  });

  test("an outdated tag costs no extra request", async () => {
    const map = steadyMap(features(600), '"8"');
    const space = await workspace();
    const snapshot = await readSnapshot(map.client, space, { rounding, ifNoneMatch: '"7"' });
    expect(snapshot?.features).toBe(600);
    expect(map.asked).toEqual([1, 2]);
  });
});

describe("an id on two pages", () => {
  /** The first feature of page 2 has the id of the third feature; its content is its own or that of the third. */
  const repeating = (etag: (request: number) => string | null, content: "own" | "same" = "own") => {
    const all = features(1200);
    all[500] = content === "same" ? feature(3) : { ...feature(501), id: feature(3).id };
    return new ScriptedMap((number, request) => ({ features: pageOf(all, number), etag: etag(request) }));
  };

  test.each(["own", "same"] as const)("contradicts one strong tag of all pages (%s content)", async (content) => {
    await expect(snapshotOf(repeating(() => '"7"', content))).rejects.toMatchObject({
      code: "remote-protocol-error",
      message: expect.stringContaining(`map m1 have the id ${feature(3).id}`),
    });
    await expect(
      snapshotOf(
        repeating(() => '"7"', content),
        { singleRead: true },
      ),
    ).rejects.toMatchObject({
      code: "remote-protocol-error",
    });
  });

  test("is no contradiction if a page says that it continues behind an older end of the page before it", async () => {
    const all = features(1200);
    // Page 2 begins with the last 98 features of page 1, and the map is complete.
    const pages = [all.slice(0, 500), all.slice(402, 902), all.slice(902)];
    const map = new ScriptedMap((number) => ({ features: pages[number - 1]!, etag: '"7"', continues: number > 1 }));
    const { snapshot, held } = await snapshotOf(map);
    expect(numbersIn(held).sort((a, b) => a - b)).toEqual(upTo(1200));
    expect(snapshot).toMatchObject({ features: 1200, etag: '"7"' });
  });

  test("contradicts one strong tag of the second reading", async () => {
    const map = repeating((request) => (request === 1 ? '"6"' : '"7"'), "same");
    await expect(snapshotOf(map)).rejects.toMatchObject({ code: "remote-protocol-error" });
  });

  test.each([
    ["changing tags", (request: number) => `"${request}"`],
    ["a weak tag", () => 'W/"7"'],
    ["no tag", () => null],
  ])("is a sign of shifted pages with %s, so the map is read again", async (_, etag) => {
    await expect(snapshotOf(repeating(etag))).rejects.toMatchObject({ code: "remote-changed-during-read" });
  });
});

describe("concurrent writes", () => {
  test("a feature inserted at the front shifts all pages, and a second attempt succeeds", async () => {
    const before = features(1000);
    const after = [feature(2000), ...before];
    const map = new ScriptedMap((number, request) => ({ features: pageOf(request > 1 ? after : before, number) }));
    const { held, snapshot } = await snapshotOf(map);
    expect(numbersIn(held)).toEqual([2000, ...upTo(1000)]);
    expect(new Set(held.map(({ id }) => id)).size).toBe(1001);
    expect(snapshot.features).toBe(1001);
    // Three pages each; the comparison of the first attempt fails on the first page, when three are requested.
    expect(map.asked.slice(-6)).toEqual(upTo(3).concat(upTo(3)));
  });

  test("a feature that moves to a page already read because of a delete is not missed", async () => {
    const before = features(1000);
    const after = before.slice(1);
    const map = new ScriptedMap((number, request) => ({ features: pageOf(request > 1 ? after : before, number) }));
    const { held } = await snapshotOf(map);
    expect(numbersIn(held)).toEqual(upTo(1000).slice(1));
  });

  test("the second reading detects a change after the first", async () => {
    const before = features(600);
    const after = before.map((one, n) => (n === 599 ? feature(600, { properties: { n: 600, title: "new" } }) : one));
    const map = new ScriptedMap((number, request) => ({ features: pageOf(request > 2 ? after : before, number) }));
    const { held } = await snapshotOf(map);
    expect(held.at(-1)!.properties).toEqual({ n: 600, title: "new" });
    expect(map.asked).toHaveLength(8);
  });

  test("pages in a different order have equal content", async () => {
    const all = features(600);
    const turned = [...all].reverse();
    const map = new ScriptedMap((number, request) => ({ features: pageOf(request > 2 ? turned : all, number) }));
    expect((await snapshotOf(map)).snapshot.features).toBe(600);
    expect(map.asked).toHaveLength(4);
  });

  test("a second reading that repeats one feature and lacks another does not match", async () => {
    const all = features(600);
    const lacking = [...all.slice(0, 599), all[0]!];
    const map = new ScriptedMap((number, request) => ({
      features: pageOf(request === 3 || request === 4 ? lacking : all, number),
    }));
    const { held } = await snapshotOf(map);
    expect(numbersIn(held)).toEqual(upTo(600));
    expect(map.asked).toHaveLength(8);
  });

  test("a map that changes constantly is reported as changed during the read", async () => {
    const map = new ScriptedMap((number, request) => ({
      features: pageOf([feature(5000 + request), ...features(600)], number),
    }));
    const failure = snapshotOf(map);
    await expect(failure).rejects.toMatchObject({ code: "remote-changed-during-read", kind: "unavailable" });
    await expect(failure).rejects.toThrow(/map m1 of http:\/\/service\.test: .* 3 attempts .*--single-read/);
  });

  test("singleRead keeps each feature once, as last read", async () => {
    const shifted = [feature(1, { properties: { n: 1, title: "old" } }), ...features(600)];
    const { held, snapshot } = await snapshotOf(new ScriptedMap((number) => ({ features: pageOf(shifted, number) })), {
      singleRead: true,
    });
    expect(numbersIn(held)).toEqual(upTo(600));
    expect(held[0]!.properties).toEqual({ n: 1 });
    expect(snapshot.features).toBe(600);
    expect(snapshot.fields.get("title")).toBeUndefined();
  });
});

describe("beyond the last page", () => {
  test("a repeated last page ends the reading", async () => {
    const all = features(1000);
    const map = new ScriptedMap((number) => ({ features: pageOf(all, Math.min(number, 2)), etag: '"1"' }));
    const { held } = await snapshotOf(map);
    expect(numbersIn(held)).toEqual(upTo(1000));
    expect(map.asked).toEqual([1, 2, 3, 4]);
  });

  test("a 404 beyond the last page ends the reading", async () => {
    const map = new ScriptedMap((number) => {
      if (number > 2) throw createError("remote-map-missing", { service: "http://service.test", map: "m1" });
      return { features: pageOf(features(1000), number), etag: '"1"' };
    });
    const { held } = await snapshotOf(map);
    expect(numbersIn(held)).toEqual(upTo(1000));
    expect(map.asked).toEqual([1, 2, 3, 1, 2, 3]);
  });

  test("a missing map is not an empty one", async () => {
    const map = new ScriptedMap(() => {
      throw createError("remote-map-missing", { service: "http://service.test", map: "m1" });
    });
    await expect(snapshotOf(map)).rejects.toMatchObject({ code: "remote-map-missing" });
  });

  test("an endlessly repeated first page ends the reading", async () => {
    const map = new ScriptedMap(() => ({ features: features(500) }));
    const { held } = await snapshotOf(map);
    expect(numbersIn(held)).toEqual(upTo(500));
  });

  test("a page repeated because of inserted features does not hide later pages", async () => {
    const before = features(700);
    const after = [...Array.from({ length: 500 }, (_, n) => feature(9000 + n)), ...before];
    const map = new ScriptedMap((number, request) => ({ features: pageOf(request > 1 ? after : before, number) }));
    const { held } = await snapshotOf(map);
    expect(held).toHaveLength(1200);
  });
});

describe("snapshot contents", () => {
  const all: WireFeature[] = [
    feature(1, { geometry: { type: "Point", coordinates: [7.5, 47.2501] }, properties: { title: "a", ref: null } }),
    feature(2, { geometry: null, properties: { title: "b" } }),
    feature(3, {
      geometry: {
        type: "GeometryCollection",
        geometries: [
          {
            type: "LineString",
            coordinates: [
              [-1, 2, 300.123456],
              [9.25, -3],
            ],
          },
        ],
      },
      properties: { ref: 0 },
    }),
  ];

  test("readSnapshot reports kinds, extent, fields and decimals", async () => {
    const { snapshot } = await snapshotOf(steadyMap(all));
    expect(snapshot.extent).toEqual([-1, -3, 9.25, 47.2501]);
    expect(snapshot.decimals).toBe(4);
    expect([...snapshot.fields]).toEqual([
      ["title", 2],
      ["ref", 1],
    ]);
    expect(snapshot.kinds[Kind.Point]).toBe(1);
    expect(snapshot.kinds[Kind.none]).toBe(1);
    expect(snapshot.kinds[Kind.GeometryCollection]).toBe(1);
  });

  test.each([
    [[1, 2], 0],
    [[0.1, 2], 1],
    [[-179.9999999, 2], 7],
    [[1e-7, 2], 7],
    [[7.123456789012, 2], 12],
    [[0.1 + 0.2, 2], 15],
  ])("%j has %i decimals", async (coordinates, decimals) => {
    const point = feature(1, { geometry: { type: "Point", coordinates } });
    expect((await snapshotOf(steadyMap([point]))).snapshot.decimals).toBe(decimals);
  });

  test("the fingerprint depends on values, but not on order or formatting", async () => {
    const print = async (list: readonly WireFeature[]) => (await snapshotOf(steadyMap(list))).snapshot.fingerprint;
    const plain = await print(all);
    expect(plain).toMatch(/^[0-9a-f]{32}$/);
    expect(await print([...all].reverse())).toBe(plain);
    expect(await print([{ ...all[0]!, properties: { title: "a" } }, ...all.slice(1)])).toBe(plain);
    expect(await print([{ ...all[0]!, properties: { title: "A" } }, ...all.slice(1)])).not.toBe(plain);
    expect(await print(all.slice(1))).not.toBe(plain);
  });

  test("the fingerprint distinguishes nested integers that have the same double, and the texts keep their digits", async () => {
    const read = (n: number | bigint) => snapshotOf(steadyMap([feature(1, { properties: { nested: [n] } })]));
    const [even, odd] = [await read(9007199254740992n), await read(9007199254740993n)];
    expect(odd.snapshot.fingerprint).not.toBe(even.snapshot.fingerprint);
    expect((await read(2 ** 53)).snapshot.fingerprint).toBe(even.snapshot.fingerprint);
    const texts = [even, odd].map(({ space }) => [...space.map.rows()].map((row) => space.map.textOf(row)).join());
    expect(texts).toEqual([
      expect.stringContaining('{"nested":[9007199254740992]}'),
      expect.stringContaining('{"nested":[9007199254740993]}'),
    ]);
  });

  test("readSnapshot reports progress for each pass", async () => {
    const progressEvents: SnapshotProgress[] = [];
    await snapshotOf(steadyMap(features(700)), { onProgress: (progress) => progressEvents.push(progress) });
    expect(progressEvents).toEqual([
      { features: 500, pass: 1 },
      { features: 700, pass: 1 },
      { features: 500, pass: 2 },
      { features: 700, pass: 2 },
    ]);
  });
});

test("a failed read-ahead page is reported once, when it is needed", async () => {
  const map = new ScriptedMap((number) => {
    if (number === 2) throw new Error("page 2 fails");
    return { features: pageOf(features(1200), number) };
  });
  await expect(snapshotOf(map)).rejects.toThrow("page 2 fails");
});
