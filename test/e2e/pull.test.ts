/** Maps as inputs, with the real service: `pull`, and `map:ID` for convert, info and check. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { WireFeature } from "../../src/remote/wire.js";
import { FaultProxy } from "../support/servers/fault-proxy.js";
import { concurrentWriter, respondBeforeCommit, withoutHeaders } from "../support/servers/proxy-faults.js";
import {
  type CommandOptions,
  createPlace,
  findFixtureKinds,
  type Place,
  type SyncFixture,
} from "../support/sync/sync-fixture.js";

const [sqlite] = await findFixtureKinds();
let world: SyncFixture;
beforeAll(async () => {
  world = await sqlite!.start();
});

const places = (count: number): Place[] =>
  Array.from({ length: count }, (_, n) => createPlace(n + 1, { name: `place ${n + 1}` }));

async function mapOf(features: readonly Place[]): Promise<string> {
  const map = await world.newMap();
  await world.fill(map, features);
  return map;
}

/** Behind a proxy that is closed after the test. */
async function proxied<T>(act: (proxy: FaultProxy, options: CommandOptions) => Promise<T>): Promise<T> {
  await using proxy = await FaultProxy.start(world.url);
  return await act(proxy, { url: proxy.url });
}

const path = (name: string) => join(world.folder, name);

/** Runs a command that must exit with 0. */
async function succeed(args: readonly string[], options: CommandOptions = {}) {
  const finished = await world.geoferry(args, options);
  expect(finished, finished.stderr).toMatchObject({ status: 0 });
  return finished;
}

interface Collection {
  readonly features: readonly WireFeature[];
}

const collectionIn = (name: string): Collection => JSON.parse(readFileSync(path(name), "utf8")) as Collection;

const byRef = (features: readonly WireFeature[]) =>
  features.toSorted((a, b) => Number(a.properties.ref) - Number(b.properties.ref));

const shapes: Place[] = [
  createPlace(1, { name: "Zürich" }),
  {
    type: "Feature",
    geometry: {
      type: "MultiPoint",
      coordinates: [
        [7, 47],
        [8, 46],
      ],
    },
    properties: { ref: 2 },
  },
  {
    type: "Feature",
    geometry: {
      type: "LineString",
      coordinates: [
        [7, 47, 300],
        [8, 46, 400.5],
      ],
    },
    properties: { ref: 3 },
  },
  {
    type: "Feature",
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [7, 46],
          [8, 46],
          [8, 47],
          [7, 46],
        ],
      ],
    },
    properties: { ref: 4, tags: ["a", { b: null }], open: true, share: 0.5 },
  },
  {
    type: "Feature",
    geometry: { type: "GeometryCollection", geometries: [{ type: "Point", coordinates: [7, 47] }] },
    properties: { ref: 5 },
  },
  { type: "Feature", geometry: null, properties: { ref: 6 } },
];

describe("pull", () => {
  test.each([
    [0, 1],
    [1, 1],
    [499, 1],
    [500, 2],
    [501, 2],
    [1000, 3],
    [1200, 3],
  ])("pull of %i features takes %i requests", async (count, requests) => {
    const map = await mapOf(places(count));
    await proxied(async (proxy, options) => {
      await succeed(["pull", `count-${count}.geojson`, "--map", map], options);
      expect(proxy.passed.filter(({ method }) => method !== "token").map((one) => one.path)).toEqual(
        Array.from({ length: requests }, (_, n) => `/api/v1/maps/${map}/features?page=${n + 1}&per_page=500`),
      );
    });
    expect(collectionIn(`count-${count}.geojson`).features).toEqual(await world.features(map));
  });

  test("pull keeps all geometries, values and ids in GeoJSON", async () => {
    const map = await mapOf(shapes);
    await succeed(["pull", "shapes.geojson", "--map", map]);
    expect(collectionIn("shapes.geojson").features).toEqual(await world.features(map));
  });

  describe("to every format and back", () => {
    // The field with the ids in each format: "" for native ids.
    test.each([
      ["geojson", ""],
      ["geojsonl", ""],
      ["csv", "id"],
      ["shp", "id"],
      ["gpkg", "id"],
      ["kml", ""],
      ["gpx", "fid"],
    ])("pull to .%s and back keeps the features", async (extension, field) => {
      const map = await mapOf(places(30));
      await succeed(["pull", `places.${extension}`, "--map", map]);
      await succeed(["convert", `places.${extension}`, `from-${extension}.geojson`]);
      const kept = byRef(await world.features(map));
      const back = byRef(collectionIn(`from-${extension}.geojson`).features);
      expect(back.map(({ geometry }) => geometry)).toEqual(kept.map(({ geometry }) => geometry));
      expect(back.map(({ properties }) => [Number(properties.ref), properties.name])).toEqual(
        kept.map(({ properties }) => [properties.ref, properties.name]),
      );
      const ids = back.map(({ id, properties }) => (field === "" ? id : properties[field]));
      expect(ids).toEqual(kept.map(({ id }) => id));
    });
  });
});

describe("where another writes between the pages", () => {
  /** Adds a feature to the map before the second page is read, this many times. */
  const writing = (map: string, times: number) => {
    let written = 0;
    return concurrentWriter("before", async () => {
      if (written++ < times) await world.fill(map, [createPlace(`new ${written}`)]);
    });
  };
  const secondPage = (request: { path: string }) => request.path.includes("page=2&");

  test.each([
    ["entity tags show it", []],
    ["a second reading shows it", ["etag"]],
  ])("%s: concurrent writes make pull read the map again", async (name, headers) => {
    const map = await mapOf(places(600));
    await proxied(async (proxy, options) => {
      const fault = writing(map, 1);
      proxy.always(withoutHeaders(...headers)).choose((request) => (secondPage(request) ? fault : null));
      await succeed(["pull", `${name}.geojson`, "--map", map], options);
      // Two pages per reading, and a second reading that matches.
      expect(proxy.count("GET")).toBe(4);
    });
    expect(collectionIn(`${name}.geojson`).features).toEqual(await world.features(map));
    expect(collectionIn(`${name}.geojson`).features).toHaveLength(601);
  });

  test("constant concurrent writes make pull end with 8 and write nothing", async () => {
    const map = await mapOf(places(600));
    await proxied(async (proxy, options) => {
      const fault = writing(map, 100);
      proxy.choose((request) => (secondPage(request) ? fault : null));
      const { status, stderr } = await world.geoferry(["pull", "unsteady.geojson", "--map", map], options);
      expect(stderr).toContain(
        `map ${map} of ${proxy.url}: other clients changed the map during each of 3 attempts to read it`,
      );
      expect(status).toBe(8);
      expect(existsSync(path("unsteady.geojson"))).toBe(false);
      await succeed(["pull", "trusted.geojson", "--map", map, "--single-read"], options);
    });
    const { features } = collectionIn("trusted.geojson");
    expect(new Set(features.map(({ id }) => id)).size).toBe(features.length);
  });
});

describe("a pull ends with", () => {
  const pull = (map: string, options: CommandOptions = {}) =>
    world.geoferry(["pull", "none.geojson", "--map", map, "--retries", "1", "--json"], options);

  test("pull ends with 8 if the service does not respond", async () => {
    await proxied(async (proxy, options) => {
      proxy.choose((request) => (request.method === "GET" ? respondBeforeCommit(503, 0) : null));
      const { status, stdout } = await pull(await world.newMap(), options);
      expect(JSON.parse(stdout)).toMatchObject({ type: "error", code: "remote-unavailable", exit: 8 });
      expect(status).toBe(8);
    });
  });

  test("pull ends with 9 if the credentials are wrong", async () => {
    const { status, stdout } = await pull(await world.newMap(), { as: { ...world.ada, clientSecret: "guessed" } });
    expect(JSON.parse(stdout)).toMatchObject({ code: "remote-credentials", exit: 9 });
    expect(status).toBe(9);
  });

  test("pull ends with 10 if the map does not exist or is private", async () => {
    const hidden = await world.newMap({ owner: world.bob, private: true });
    for (const map of [hidden, "nowhere"]) {
      const { status, stdout } = await pull(map);
      expect(JSON.parse(stdout)).toMatchObject({ code: "remote-map-missing", exit: 10 });
      expect(status).toBe(10);
    }
  });

  test("pull ends with 2 if the map id is empty", async () => {
    expect(await world.geoferry(["pull", "none.geojson", "--map="])).toMatchObject({ status: 2 });
    const { status, stderr } = await world.geoferry(["convert", "map:", "none.geojson"]);
    expect(stderr).toContain("the id of the map in map:ID is empty");
    expect(status).toBe(2);
  });

  test("pull ends with 7 if an empty map would replace features", async () => {
    const full = await mapOf(places(2));
    await succeed(["pull", "kept.geojson", "--map", full]);
    const { status } = await world.geoferry(["pull", "kept.geojson", "--map", await world.newMap(), "--overwrite"]);
    expect(status).toBe(7);
    expect(collectionIn("kept.geojson").features).toHaveLength(2);
  });
});

describe("pull with options of convert", () => {
  test("pull selects, reprojects, renames and writes to stdout", async () => {
    const map = await mapOf([createPlace(1, {}, [9, 0]), createPlace(2, {}, [9, 47])]);
    const line = "--to csv --where ref=1 --rename ref=number --target-crs EPSG:32632".split(" ");
    const { stdout } = await succeed(["pull", "-", "--map", map, ...line]);
    const [head, row, ...rest] = stdout.trim().split(/\r?\n/);
    expect(rest).toEqual([]);
    const of = (name: string) => row!.split(",")[head!.split(",").indexOf(name)];
    // 9° E is the central meridian of zone 32: false easting 500,000 m at the equator.
    expect(Number(of("x"))).toBeCloseTo(500000, 3);
    expect(Number(of("y"))).toBeCloseTo(0, 3);
    expect(of("number")).toBe("1");
  });

  test("pull appends a map to an existing file", async () => {
    const [one, other] = [await mapOf(places(3)), await mapOf([createPlace("x")])];
    await succeed(["pull", "both.geojson", "--map", one]);
    await succeed(["pull", "both.geojson", "--map", other, "--append"]);
    expect(collectionIn("both.geojson").features).toEqual([
      ...(await world.features(one)),
      ...(await world.features(other)),
    ]);
  });
});

describe("layers by geometry", () => {
  const typesIn = (name: string) => collectionIn(name).features.map(({ geometry }) => geometry?.type ?? null);

  test.each([
    ["point", ["Point", "MultiPoint"]],
    ["line", ["LineString"]],
    ["polygon", ["Polygon"]],
    ["collection", ["GeometryCollection"]],
    ["none", [null]],
  ])("pull of the layer %s has only its geometries", async (layer, types) => {
    const map = await mapOf(shapes);
    await succeed(["pull", `only-${layer}.geojson`, "--map", map, "--layer", layer]);
    expect(typesIn(`only-${layer}.geojson`)).toEqual(types);
  });

  test("layers by geometry become tables of one GeoPackage", async () => {
    const map = await mapOf(shapes);
    await succeed(["pull", "layers.gpkg", "--map", map, "--layer", "point,line"]);
    const { stdout } = await succeed(["info", "layers.gpkg", "--json"]);
    const layers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { layer: string; featureCount: number });
    expect(layers.map(({ layer, featureCount }) => [layer, featureCount])).toEqual([
      ["point", 2],
      ["line", 1],
    ]);
  });

  test("an unknown layer is reported with the existing names", async () => {
    const map = await mapOf(shapes);
    const { status, stderr } = await world.geoferry(["pull", "typo.geojson", "--map", map, "--layer", "points"]);
    expect(stderr).toContain('did you mean "point"?');
    expect(status).toBe(3);
  });
});

describe("map:ID", () => {
  test("info describes map:ID", async () => {
    const map = await mapOf(shapes);
    const { stdout } = await succeed(["info", `map:${map}`, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      input: `map:${map}`,
      layer: map,
      featureCount: 6,
      nullGeometries: 1,
      hasZ: true,
      crs: { id: "EPSG:4326" },
    });
  });

  test("check validates map:ID", async () => {
    const bowTie = [
      [
        [0, 0],
        [1, 1],
        [1, 0],
        [0, 1],
        [0, 0],
      ],
    ];
    const map = await mapOf([
      createPlace(1),
      { type: "Feature", geometry: { type: "Polygon", coordinates: bowTie }, properties: {} },
    ]);
    const { status, stdout } = await world.geoferry(["check", `map:${map}`]);
    expect(stdout).toContain("1 of 2 features have a problem");
    expect(status).toBe(5);
  });

  test("convert merges map:ID with files and other maps", async () => {
    const [one, other] = [await mapOf(places(2)), await mapOf([createPlace(3)])];
    const file = world.source([createPlace(4)]);
    await succeed(["convert", `map:${one}`, file, `map:${other}`, "merged.geojson"]);
    expect(collectionIn("merged.geojson").features.map(({ properties }) => properties.ref)).toEqual([1, 2, 4, 3]);
  });

  test("convert writes several map:ID inputs as files of a folder", async () => {
    const maps = [await mapOf(places(2)), await mapOf([createPlace(3)])];
    await succeed(["convert", ...maps.map((map) => `map:${map}`), "maps/", "--to", "geojson"]);
    expect(maps.map((map) => collectionIn(`maps/${map}.geojson`).features.length)).toEqual([2, 1]);
  });

  test("map:ID requires a service", async () => {
    const env = { GEOFERRY_URL: undefined, GEOFERRY_CLIENT_ID: undefined, GEOFERRY_CLIENT_SECRET: undefined };
    const { status, stderr } = await world.geoferry(["convert", "map:7c0", "none.geojson"], { env });
    expect(stderr).toContain("geoferry login");
    expect(status).toBe(2);
  });
});

describe("check --map", () => {
  const held = () => mapOf([createPlace(1, {}, [7, 46]), createPlace(2, {}, [10, 48])]);
  const check = async (coordinates: [number, number], ...flags: string[]) => {
    const file = world.source([createPlace(1, {}, coordinates)]);
    const { status, stdout } = await world.geoferry(["check", file, "--map", await held(), "--strict", ...flags]);
    return { status, stdout };
  };

  test("check --map accepts coordinates near the features of the map", async () => {
    expect(await check([8, 47])).toMatchObject({ status: 0, stdout: expect.stringContaining("no problem found") });
  });

  test("check --map detects swapped coordinates", async () => {
    const { status, stdout } = await check([47, 8]);
    expect(stdout).toMatch(/x and y may be swapped: the extent \[47, 8, 47, 8\] .* \[7, 46, 10, 48\].*--swap-xy/);
    expect(status).toBe(5);
  });

  test("check --map reports the extents of data elsewhere", async () => {
    const { status, stdout } = await check([-70, -30]);
    expect(stdout).toContain("the extent [-70, -30, -70, -30] does not overlap that of map:");
    expect(stdout).not.toContain("swapped");
    expect(status).toBe(5);
  });

  test("check --map handles projected coordinates", async () => {
    // 5,205,000 m is about 47° N, and 500,000 m the central meridian: 9° E of zone 32, 129° E of zone 52.
    expect((await check([500000, 5205000], "--source-crs", "EPSG:32632")).stdout).not.toContain("does not overlap");
    expect((await check([500000, 5205000], "--source-crs", "EPSG:32652")).stdout).toContain("does not overlap");
  });

  test("check --map with an empty map has nothing to compare", async () => {
    const file = world.source([createPlace(1)]);
    expect(await world.geoferry(["check", file, "--map", await world.newMap(), "--strict"])).toMatchObject({
      status: 0,
    });
  });
});
