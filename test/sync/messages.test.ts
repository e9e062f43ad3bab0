/** Messages and exit statuses of synchronizations that stop, and that nothing was sent. */
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AlternativeService } from "../support/servers/alternative-service.js";
import { FaultProxy } from "../support/servers/fault-proxy.js";
import * as faults from "../support/servers/proxy-faults.js";
import { createPlace, type Place, type SyncFixture } from "../support/sync/sync-fixture.js";
import { CommandFixture, createPlaces, expectFailure } from "./command-fixture.js";

let listener: CommandFixture;
let world: SyncFixture;
let proxy: FaultProxy;
beforeAll(async () => {
  listener = await CommandFixture.start();
  ({ world, proxy } = listener);
});
afterAll(() => listener[Symbol.asyncDispose]());

const mapWith: CommandFixture["mapWith"] = (held) => listener.mapWith(held);
const run: CommandFixture["run"] = (args, options) => listener.run(args, options);
const push: CommandFixture["push"] = (source, map, ...args) => listener.push(source, map, ...args);
const stopped: CommandFixture["stopped"] = (result, status, ...words) => listener.stopped(result, status, ...words);

describe("folders and patterns of inputs", () => {
  test("push and plan read the files of a folder and of a pattern, and name those left out", async () => {
    const folder = join(world.folder, "delivery");
    mkdirSync(folder);
    world.file("delivery/a.geojsonl", `${JSON.stringify(createPlace("a"))}\n`);
    world.file("delivery/b.geojsonl", `${JSON.stringify(createPlace("b"))}\n`);
    world.file("delivery/c.data", "no format has this name");
    const map = await mapWith([]);
    for (const source of [folder, `${folder}/*`, `${folder}/*.geojsonl`]) {
      const { status, stderr } = await run(["plan", source, "--map", map, "--remote-field", "ref"]);
      expect([status, stderr]).toEqual([0, expect.stringMatching(/create +2 {2}only in the source/)]);
      expect(stderr.includes("files-left-out")).toBe(!source.endsWith("l"));
    }
    const { status, stderr } = await run(["push", folder, "--map", map, "--remote-field", "ref"]);
    expect([status, stderr]).toEqual([0, expect.stringMatching(/created 2, updated 0, deleted 0/)]);
    const missing = await run(["push", `${folder}/*.csv`, "--map", map, "--remote-field", "ref"]);
    expectFailure(missing, 3, /delivery\/\*\.csv: no file matches this pattern/);
  });
});

describe("keys", () => {
  test("push reports a key field that the source does not have", async () => {
    const result = await push(createPlaces(3), await mapWith([]), "--remote-field", "reff");
    stopped(result, 3, /has no field "reff"; did you mean "ref"\? It has "ref", "title"/);
  });

  test("push reports duplicate keys in the source", async () => {
    const source = [...createPlaces(3), createPlace("p1", { title: "Twin" })];
    const result = await push(source, await mapWith([]), "--remote-field", "ref");
    stopped(result, 3, /several features have the same "ref"/, /p1/, /--on-duplicate first or last/);
  });

  test("push reports features without a key", async () => {
    const source = [...createPlaces(2), { ...createPlace("x"), properties: { ref: null, title: "Nameless" } }];
    const result = await push(source, await mapWith([]), "--remote-field", "ref");
    stopped(result, 3, /"ref" cannot identify 1 feature/, /--on-missing-key reject/);
  });

  test("push reports integers beyond the exact range of a double", async () => {
    const line = JSON.stringify(createPlace("x")).replace('"x"', "9007199254740993");
    const source = world.file("unsafe.geojsonl", `${line}\n`);
    const result = await run(["push", source, "--map", await mapWith([]), "--remote-field", "ref"]);
    stopped(result, 3, /"ref" cannot identify 1 feature/, /2\^53/, /--cast ref=text/);
  });

  test("push reports that no attribute is suitable as a key", async () => {
    const source = createPlaces(4, (i) => ({ title: i < 2 ? "Twin" : null })).map(({ properties, ...rest }) => ({
      ...rest,
      properties: { title: properties.title },
    }));
    stopped(
      await push(source, await mapWith([])),
      3,
      /no attribute identifies every feature/,
      /"title"/,
      /--remote-field/,
    );
  });

  test("push reports a key that matches nothing on the map", async () => {
    const held = createPlaces(20, (i) => ({ code: `c${i}` }));
    const source = createPlaces(20, (i) => ({ code: `d${i}` }));
    const result = await push(source, await mapWith(held), "--remote-field", "code");
    stopped(result, 7, /the key or the map is probably wrong/, /--remote-field/, /nothing was sent/);
  });

  test("push reports keys that differ only in spelling", async () => {
    const source = createPlaces(20, (i) => ({ ref: `P${i}` }));
    const result = await push(source, await mapWith(createPlaces(20)), "--remote-field", "ref");
    stopped(result, 7, /only if case, whitespace or the encoding of accents were ignored/, /P0/, /nothing was sent/);
  });

  test("push reports duplicate keys on the map", async () => {
    const map = await mapWith([...createPlaces(20), createPlace("p7", { title: "Twin" })]);
    const result = await push(createPlaces(20), map, "--remote-field", "ref");
    stopped(result, 10, /several features have the same "ref"/, /p7/);
  });
});

describe("coordinates", () => {
  test("push stops if latitude certainly precedes longitude", async () => {
    const source = createPlaces(3).map((one, i) => ({
      ...one,
      geometry: { type: "Point" as const, coordinates: [47, 100 + i] },
    }));
    const result = await push(source, await mapWith([]), "--remote-field", "ref");
    stopped(result, 3, /latitude precedes longitude/, /--in swap-xy|--swap-xy/, /nothing was sent/);
  });

  test("push warns if latitude seems to precede longitude", async () => {
    const source = createPlaces(20).map((one, i) => ({
      ...one,
      geometry: { type: "Point" as const, coordinates: [47, 8 + i / 100] },
    }));
    const map = await mapWith(
      createPlaces(20).map((one, i) => ({
        ...one,
        geometry: { type: "Point" as const, coordinates: [8 + i / 100, 47] },
      })),
    );
    const result = await push(source, map, "--remote-field", "ref", "--strict");
    stopped(result, 3, /latitude seems to precede longitude/, /nothing was sent/);
  });
});

describe("guards", () => {
  test("an empty source stops a run", async () => {
    const map = await mapWith(createPlaces(20));
    const source = world.file("empty.geojson", '{"type":"FeatureCollection","features":[]}');
    const args = ["push", source, "--map", map, "--remote-field", "ref", "--mode", "full"];
    stopped(await run(args), 7, /has no features/, /--allow-empty/);
    expect(await world.features(map)).toHaveLength(20);
    expect(await run([...args, "--allow-empty", "--max-delete", "100%", "--yes"])).toMatchObject({ status: 0 });
    expect(await world.features(map)).toEqual([]);
  });

  test("many deletes stop a run", async () => {
    const result = await push(
      createPlaces(17),
      await mapWith(createPlaces(20)),
      "--remote-field",
      "ref",
      "--mode",
      "full",
    );
    stopped(result, 7, /3/, /10 ?%/, /--max-delete/);
  });

  test("many deletes stop a run even with --yes", async () => {
    const result = await push(
      createPlaces(17),
      await mapWith(createPlaces(20)),
      "--remote-field",
      "ref",
      "--mode",
      "full",
      "--yes",
    );
    stopped(result, 7, /--max-delete/);
  });

  test("many updates stop a run", async () => {
    const changed = createPlaces(20, (i) => ({ title: `New ${i}` }));
    const result = await push(changed, await mapWith(createPlaces(20)), "--remote-field", "ref", "--max-update", "50%");
    stopped(result, 7, /20/, /50 ?%/, /--max-update/);
  });

  test("lost geometries stop a run", async () => {
    const source = createPlaces(20).map((one, i) => (i === 7 ? { ...one, geometry: null } : one));
    const result = await push(source, await mapWith(createPlaces(20)), "--remote-field", "ref");
    stopped(result, 7, /1 feature would lose its geometry/, /--allow-null-geometry/);
  });

  test("map features without a key stop a full sync", async () => {
    const unmanaged = { ...createPlace("x"), properties: { title: "By hand" } };
    const map = await mapWith([...createPlaces(20), unmanaged]);
    const result = await push(createPlaces(20), map, "--remote-field", "ref", "--mode", "full");
    stopped(result, 7, /--keep-unmanaged/, /--delete-unmanaged/);
  });

  test.each([
    ["--where", "title <> 'Place 3'"],
    ["--bbox", "0,0,90,90"],
    ["--geometry-type", "point"],
  ])("deletes caused by %s stop a run", async (flag, value) => {
    const map = await mapWith(createPlaces(20));
    const args = ["--remote-field", "ref", "--mode", "full", `${flag}=${value}`];
    const words = [
      `would delete the features that ${flag} excludes`,
      "--delete-excluded",
      "--scope",
      "--mode incremental",
    ];
    stopped(await push(createPlaces(20), map, ...args), 2, ...words);
    expect((await push(createPlaces(20), map, ...args, "--delete-excluded", "--dry-run")).status).toBe(0);
    // Promoting all geometries to multi types excludes nothing.
    const promoted = await push(createPlaces(20), map, ...args.slice(0, 4), "--geometry-type", "multi", "--dry-run");
    expect(promoted.status, promoted.stderr).toBe(0);
    expect(proxy.writes).toBe(0);
  });

  test("deletes of filtered features require --delete-excluded", async () => {
    const map = await mapWith(createPlaces(20));
    const filter = ["--remote-field", "ref", "--mode", "full", "--where", "title <> 'Place 3'"];
    const verified = await run([
      "verify",
      world.source(createPlaces(20)),
      "--map",
      map,
      ...filter.slice(0, 2),
      "--where=1=1",
    ]);
    expect(verified.status, verified.stderr).toBe(0);
    expect((await push(createPlaces(20), map, ...filter, "--delete-excluded")).status).toBe(0);
    expect((await world.features(map)).map(({ properties }) => properties.ref)).not.toContain("p3");
    expect(await world.features(map)).toHaveLength(19);
  });

  test("rejects without a known key stop a full sync", async () => {
    const good = createPlaces(20)
      .map((one) => JSON.stringify(one))
      .join("\n");
    const source = world.file("torn.geojsonl", `${good}\n{"type":"Feature","geometry":null,"properties":[]}\n`);
    const map = await mapWith(createPlaces(21));
    const result = await run(["push", source, "--map", map, "--remote-field", "ref", "--mode", "full"]);
    stopped(result, 7, /rejected without a key/);
    expect(await world.features(map)).toHaveLength(21);
  });
});

describe("geometries that cannot be repaired", () => {
  /** The second of three has a latitude beyond the pole. */
  const flawed = (title: (i: number) => string) =>
    createPlaces(3, (i) => ({ title: title(i) })).map((one, i) =>
      i === 1 ? { ...one, geometry: { type: "Point" as const, coordinates: [1, 95] } } : one,
    );
  const shown = async (map: string) =>
    (await world.features(map))
      .map(({ properties, geometry }) => [properties.ref, properties.title, geometry?.type ?? null])
      .sort();

  test("the map keeps its geometry, and a second push sends nothing", async () => {
    const map = await mapWith(createPlaces(3));
    const args = ["--remote-field", "ref", "--mode", "full"];
    const source = flawed((i) => `New ${i}`);
    expect(await push(source, map, ...args)).toMatchObject({ status: 5 });
    const expected = [
      ["p0", "New 0", "Point"],
      ["p1", "Place 1", "Point"],
      ["p2", "New 2", "Point"],
    ];
    expect(await shown(map)).toEqual(expected);
    const before = proxy.writes;
    expect(await push(source, map, ...args)).toMatchObject({ status: 5 });
    expect(proxy.writes).toBe(before);
    expect(await shown(map)).toEqual(expected);
  });

  test("--allow-null-geometry removes the geometry from the map", async () => {
    const map = await mapWith(createPlaces(3));
    const args = ["--remote-field", "ref", "--allow-null-geometry"];
    expect(
      await push(
        flawed((i) => `New ${i}`),
        map,
        ...args,
      ),
    ).toMatchObject({ status: 5 });
    expect((await shown(map))[1]).toEqual(["p1", "New 1", null]);
  });

  test("new features are created without a geometry, unless they are excluded", async () => {
    const args = ["--remote-field", "ref", "--mode", "full"];
    const source = flawed((i) => `New ${i}`);
    const map = await mapWith(createPlaces(1));
    expect(await push(source, map, ...args)).toMatchObject({ status: 5 });
    expect((await shown(map))[1]).toEqual(["p1", "New 1", null]);
    const before = proxy.writes;
    expect(await push(source, map, ...args)).toMatchObject({ status: 5 });
    expect(proxy.writes).toBe(before);
    const other = await mapWith(createPlaces(1));
    expect(await push(source, other, ...args, "--on-bad-geometry", "reject")).toMatchObject({ status: 5 });
    expect((await shown(other)).map(([ref]) => ref)).toEqual(["p0", "p2"]);
  });
});

describe("plans", () => {
  const planned = async (map: string, source: string) => {
    const path = join(world.folder, `${map}.plan`);
    const result = await run(["plan", source, "--map", map, "--remote-field", "ref", "-o", path]);
    expect(result).toMatchObject({ status: 0 });
    return path;
  };

  test("a plan for a map that was changed and changed back asks for another plan", async () => {
    const map = await mapWith(createPlaces(12));
    const plan = join(world.folder, "turned.plan");
    const matched = ["--map", map, "--remote-field", "ref"];
    const made = await run(["plan", world.source(createPlaces(11)), ...matched, "--mode", "full", "-o", plan]);
    expect(made).toMatchObject({ status: 0 });
    const other = world.source([createPlace("other")], "other.geojsonl");
    expect(await run(["push", other, ...matched])).toMatchObject({ status: 0 });
    expect(await run(["delete", other, ...matched, "--yes"])).toMatchObject({ status: 0 });
    expectFailure(
      await run(["apply", plan, "--yes"]),
      10,
      /after \S*turned\.plan was made/,
      /make a new plan .*geoferry plan -o/,
    );
  });

  test("a plan is stale after another client changed the map", async () => {
    const map = await mapWith(createPlaces(12));
    const plan = await planned(map, world.source(createPlaces(14)));
    await world.fill(map, [createPlace("other")]);
    const result = await run(["apply", plan]);
    stopped(result, 10, /the plan is out of date/, /has changed \(12 features, now 13 features\)/, /geoferry plan/);
  });

  test("a plan is stale after the source changed", async () => {
    const map = await mapWith(createPlaces(12));
    const source = world.source(createPlaces(14), "changing.geojsonl");
    const plan = await planned(map, source);
    world.source(createPlaces(15), "changing.geojsonl");
    stopped(await run(["apply", plan]), 10, /the plan is out of date/, /changing\.geojsonl/, /geoferry plan/);
  });

  test("a truncated plan is rejected", async () => {
    const map = await mapWith(createPlaces(12));
    const plan = await planned(map, world.source(createPlaces(14)));
    const cut = world.file("cut.plan", readFileSync(plan, "utf8").split("\n").slice(0, -2).join("\n"));
    stopped(await run(["apply", cut]), 3, /not a complete plan/, /create a new plan with geoferry plan/);
  });

  test("an edited plan is rejected", async () => {
    const map = await mapWith(createPlaces(12));
    const plan = await planned(map, world.source(createPlaces(14)));
    const text = readFileSync(plan, "utf8");
    expect(text).toContain('"title":"Place 13"');
    const edited = world.file("edited.plan", text.replace('"title":"Place 13"', '"title":"Palace 13"'));
    stopped(await run(["apply", edited]), 3, /it was edited, or damaged; create a new plan with geoferry plan/);
    expect(await world.features(map)).toHaveLength(12);
  });

  test("apply names the command whose options allow what a guard stops", async () => {
    const map = await mapWith(createPlaces(20));
    const plan = world.file("guarded.plan", "");
    const args = ["--map", map, "--remote-field", "ref", "--mode", "full", "-o", plan, "--overwrite"];
    await run(["plan", world.source(createPlaces(10)), ...args]);
    stopped(await run(["apply", plan, "--yes"]), 7, /--max-delete 10 allows it/, /are for geoferry plan: create a new/);
    expect(await world.features(map)).toHaveLength(20);
    await run(["plan", world.source(createPlaces(10)), ...args, "--max-delete", "10"]);
    expect((await run(["apply", plan, "--yes"])).status).toBe(0);
    expect(await world.features(map)).toHaveLength(10);
  });

  test("verify counts features of the map without a key as differences, and says so if there are none", async () => {
    const source = world.source(createPlaces(12));
    const keyless = { type: "Feature" as const, geometry: null, properties: { title: "drawn by hand" } };
    const verify = async (map: string) => run(["verify", source, "--map", map, "--remote-field", "ref", "--exit-code"]);
    const differing = await verify(await mapWith([...createPlaces(12), keyless]));
    expect(differing.stderr).toMatch(/^differences, .*unmanaged +1 {2}on the map without a key/ms);
    expect(differing.status).toBe(20);
    const equal = await verify(await mapWith(createPlaces(12)));
    expect(equal.stderr).toMatch(/^no differences, matched by/m);
    expect(equal.status).toBe(0);
  });

  test("push refuses projected coordinates that seem to be exchanged with --strict", async () => {
    const source = world.file("exchanged.csv", "ref,easting,northing\np1,5400000,500000\np2,5400100,500010\n");
    const args = ["push", source, "--map", await mapWith([]), "--remote-field", "ref", "--source-crs", "EPSG:25832"];
    stopped(await run([...args, "--strict"]), 3, /x and y seem to be swapped: --swap-xy/);
    expect(proxy.writes).toBe(0);
    expect((await run([...args, "--strict", "--swap-xy"])).status).toBe(0);
  });

  test("plan reports whether there is something to do", async () => {
    const map = await mapWith(createPlaces(12));
    const args = ["plan", world.source(createPlaces(13)), "--map", map, "--remote-field", "ref", "--exit-code"];
    expect((await run(args)).status).toBe(20);
    const verified = await run(["verify", ...args.slice(1)]);
    expect(verified.status).toBe(20);
    expect(verified.stderr).toMatch(/differences, matched by property "ref":\n {2}create +1 {2}missing on the map/);
    expect(proxy.writes).toBe(0);
  });
});

describe("the service", () => {
  test("push reports an unreachable service", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    server.close();
    const url = `http://127.0.0.1:${port}`;
    const map = await mapWith([]);
    const args = ["push", world.source(createPlaces(3)), "--map", map, "--remote-field", "ref", "--retries", "1"];
    stopped(await run(args, { url }), 8, `${url}: the service is unavailable`, /try again later/);
  });

  test("push reports a service that becomes unreachable during reading", async () => {
    const map = await mapWith(createPlaces(12));
    proxy.on("GET", 1, faults.cutBeforeRequest, 100);
    const result = await push(createPlaces(13), map, "--remote-field", "ref", "--retries", "1");
    stopped(result, 8, /the service is unavailable/, /tried 2 times/);
  });

  test("the next run completes one whose service became unreachable during writing", async () => {
    const map = await mapWith(createPlaces(12));
    proxy.choose(({ method }) => (method === "POST" ? faults.cutAfterCommit : null));
    proxy.choose(({ method }) => (method === "GET" && proxy.count("POST") > 0 ? faults.cutBeforeRequest : null));
    const args = ["--remote-field", "ref", "--retries", "1"];
    const source = world.source(createPlaces(14));
    const result = await run(["push", source, "--map", map, "--settle-time", "20", ...args]);
    expect(result).toMatchObject({ status: 8 });
    proxy.calm();
    expect(await run(["push", source, "--map", map, "--settle-time", "20", ...args])).toMatchObject({ status: 0 });
    expect(await world.features(map)).toHaveLength(14);
  });

  test("push reports wrong credentials", async () => {
    const as = { ...world.ada, clientSecret: "gfs_wrong" };
    const map = await mapWith([]);
    const result = await run(["push", world.source(createPlaces(3)), "--map", map, "--remote-field", "ref"], { as });
    stopped(result, 9, /does not accept the credentials/, /geoferry login/);
    expect(result.stderr).not.toContain("gfs_wrong");
  });

  test("push reports a map of another account", async () => {
    const map = await mapWith(createPlaces(12));
    const args = ["push", world.source(createPlaces(13)), "--map", map, "--remote-field", "ref"];
    const result = await run(args, { as: world.bob });
    expect(result).toMatchObject({ status: 9 });
    expect(result.stderr).toMatch(/belongs to another account/);
    expect(await world.features(map)).toHaveLength(12);
  });

  test("push reports a missing map", async () => {
    const hidden = await world.newMap({ owner: world.bob, private: true });
    proxy.calm();
    stopped(await push(createPlaces(3), hidden, "--remote-field", "ref"), 10, /has no map/, /geoferry maps/);
  });

  test("push reports a server that is not a map service", async () => {
    proxy.calm().choose(() => faults.respondBeforeCommit(200));
    const result = await push(createPlaces(3), "7c0", "--remote-field", "ref", "--retries", "1");
    expect(result.status).toBe(10);
    expect(result.stderr).toMatch(/unexpected response for a Map Features Service/);
  });
});

describe("command line", () => {
  test("push requires a map", async () => {
    const result = await run(["push", world.source(createPlaces(3))]);
    expect(result).toMatchObject({ status: 2, stdout: "" });
    expect(result.stderr).toMatch(/\bmap\b/);
  });

  test("push requires a service", async () => {
    const map = await mapWith([]);
    const env = { GEOFERRY_URL: undefined, GEOFERRY_CLIENT_ID: undefined, GEOFERRY_CLIENT_SECRET: undefined };
    const result = await run(["push", world.source(createPlaces(3)), "--map", map], { env });
    stopped(result, 2, /geoferry login/, /GEOFERRY_URL/);
  });

  test("rejects http, which would send secrets unencrypted", async () => {
    const map = await mapWith([]);
    const result = await run(["push", world.source(createPlaces(3)), "--map", map], { url: "http://maps.example.org" });
    stopped(result, 2, /http would send secrets unencrypted/);
  });

  test("push reports a backup that cannot be written", async () => {
    const map = await mapWith(createPlaces(12));
    const backup = join(world.file("plain-file", ""), "kept.geojson");
    const result = await push(
      createPlaces(12, () => ({ title: "new" })),
      map,
      "--remote-field",
      "ref",
      "--backup",
      backup,
    );
    stopped(result, 6, /kept\.geojson: cannot write the backup: .*nothing was sent.*; choose another .* with --backup/);
  });
});

test("a second run on a locked map stops", async () => {
  const map = await mapWith(createPlaces(12));
  const backup = join(world.folder, `${map}.kept.geojson`);
  const changed = createPlaces(1, () => ({ title: "new" }));
  expect(await push(changed, map, "--remote-field", "ref", "--backup", backup)).toMatchObject({ status: 0 });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  proxy.calm().on("GET", 1, faults.delayedUntil(released));
  const source = world.source([...changed, ...createPlaces(13).slice(1)]);
  const args = ["push", source, "--map", map, "--remote-field", "ref"];
  const first = run(args);
  await expect.poll(() => proxy.count("GET"), { timeout: 20_000 }).toBe(1);
  const second = await run(args);
  expect(second).toMatchObject({ status: 11 });
  expect(second.stderr).toMatch(/another/);
  // Read-only runs take no lock, and report that another run holds it.
  const reading = await run(["push", source, "--map", map, "--remote-field", "ref", "--dry-run"]);
  expect(reading.status, reading.stderr).toBe(0);
  expect(reading.stderr).toMatch(/another run is changing map .* \(process \d+ on .*\); results may be outdated/);
  expect(reading.stderr).toMatch(/create +1 {2}only in the source/);
  const restoring = await run(["restore", backup, "--dry-run"]);
  expect(restoring.status, restoring.stderr).toBe(0);
  expect(restoring.stderr).toMatch(/another run is changing map/);
  expect(restoring.stderr).toMatch(/1 feature will be reverted/);
  expect((await run(["restore", backup])).status).toBe(11);
  release();
  expect(await first).toMatchObject({ status: 0 });
});

test("rejected features are reported and saved for another push", async () => {
  await using odd = await AlternativeService.start({ titleLength: 8 });
  const map = odd.newMap();
  const source = world.source([...createPlaces(3), createPlace("long", { title: "much too long" })]);
  const rejects = join(world.folder, "refused.geojsonl");
  const args = ["push", source, "--map", map, "--remote-field", "ref", "--rejects", rejects, "--settle-time", "20"];
  const result = await run(args, { url: odd.url, as: odd });
  expect(result).toMatchObject({ status: 5 });
  expect(result.stderr).toMatch(/the title is too long/);
  expect(result.stderr).toContain(rejects);
  expect(readFileSync(rejects, "utf8")).toContain("much too long");
  expect(odd.featuresOf(map)).toHaveLength(3);
});

test("every run reports rejected features without a key, even if nothing changed", async () => {
  const map = await mapWith([]);
  const source = world.source([
    ...createPlaces(3),
    { ...createPlace("x"), properties: { ref: null, title: "Nameless" } },
  ]);
  const rejects = join(world.folder, "nameless.rejects.geojsonl");
  const args = ["push", source, "--map", map, "--remote-field", "ref", "--on-missing-key", "reject"];
  for (const created of [3, 0]) {
    const result = await run([...args, "--rejects", rejects]);
    expect(result).toMatchObject({ status: 5 });
    expect(result.stderr).toContain(`create ${created}, update 0`);
    expect(result.stderr).toContain(rejects);
    expect(readFileSync(rejects, "utf8").trimEnd().split("\n")).toHaveLength(1);
  }
  expect((await run([...args.with(1, world.source(createPlaces(3))), "--rejects", rejects])).status).toBe(0);
  expect(existsSync(rejects)).toBe(false);
});

test("a backup never replaces another one", async () => {
  const map = await mapWith(createPlaces(3));
  const backup = join(world.folder, `${map}.before.geojson`);
  const titles = (path: string) =>
    (JSON.parse(readFileSync(path, "utf8")) as { features: readonly Place[] }).features.map(
      (one) => one.properties.title,
    );
  for (const title of ["second", "third"]) {
    const source = createPlaces(1, () => ({ title }));
    expect(await push(source, map, "--remote-field", "ref", "--backup", backup)).toMatchObject({ status: 0 });
  }
  expect(titles(backup)).toEqual(["Place 0"]);
  expect(titles(join(world.folder, `${map}.before-2.geojson`))).toEqual(["second"]);
});

test("without --backup, the backup is in the state folder and named in the summary", async () => {
  const map = await mapWith(createPlaces(3));
  const folder = join(world.folder, `${map}-working-directory`);
  mkdirSync(folder);
  const source = createPlaces(1, () => ({ title: "new" }));
  const pushed = await run(["push", world.source(source), "--map", map, "--remote-field", "ref"], { cwd: folder });
  expect(pushed.status).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
  const [, backup] = /restore (\S+)/.exec(pushed.stderr)!;
  expect(backup).toMatch(/\/backups\/[^/]+-backup-\d{8}T\d{6}Z\.geojson$/);
  expect((await run(["restore", backup!], { cwd: folder })).status).toBe(0);
  expect((await world.features(map)).map((feature) => feature.properties.title)).toContain("Place 0");
  expect(readdirSync(folder)).toEqual([]);
});

test("a backup folder receives a file with a generated name", async () => {
  const map = await mapWith(createPlaces(3));
  const folder = join(world.folder, `${map}-backups/`);
  const result = await push(
    createPlaces(1, () => ({ title: "new" })),
    map,
    "--remote-field",
    "ref",
    "--backup",
    folder,
  );
  expect(result).toMatchObject({ status: 0 });
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/-backup-\d{8}T\d{6}Z\.geojson$/)]);
  expect(result.stderr).toContain(`to undo this: geoferry restore ${folder}`);
});

test("push warns about a key that no map feature has, since all features would be created again", async () => {
  const map = await mapWith(createPlaces(3));
  const source = world.source(createPlaces(3));
  const args = ["push", source, "--map", map, "--dry-run", "--remote-field"];
  const renamed = await run([...args, "code", "--rename", "ref=code"]);
  expect(renamed.stderr).toMatch(/note key-new-to-map of code.*: no feature of the map has "code"/);
  expect((await run([...args, "ref"])).stderr).not.toContain("key-new-to-map");
});

test("push reports duplicate keys to people and programs", async () => {
  const map = await mapWith([]);
  const source = world.source([...createPlaces(3), createPlace("p1", { title: "Twin" })]);
  const args = ["push", source, "--map", map, "--remote-field", "ref", "--on-duplicate", "first", "--dry-run"];
  expect((await run(args)).stderr.match(/omitted/g)).toHaveLength(1);
  const records = (await run([...args, "--json"])).stdout.trimEnd().split("\n");
  expect(records.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ type: "notice", code: "duplicate-key-dropped", count: 1 }),
  );
});

test("an existing plan or rejects file is reported with advice before the map is read", async () => {
  const map = await mapWith([]);
  const there = world.file("there", "{}");
  const missing = join(world.folder, "no-such-source.geojson");
  const plan = await run(["plan", missing, "--map", map, "-o", there]);
  stopped(plan, 2, /there: exists already; use --overwrite to replace it$/m);
  stopped(await run(["plan", missing, "--map", map, "--html", there]), 2, /use --overwrite to replace it$/m);
  const push = await run(["push", world.source(createPlaces(3)), "--map", map, "--rejects", there]);
  expect(proxy.count()).toBe(0);
  stopped(push, 2, /exists already, and the rejects would go there; name another file with --rejects/);
  expect(readFileSync(there, "utf8")).toBe("{}");
});

test("append mode reports unknown outcomes and never sends them again", async () => {
  await using bare = (await FaultProxy.start(world.url)).always(faults.withoutHeaders("idempotency-key", "etag"));
  const map = await mapWith([]);
  bare.on("POST", 1, faults.cutAfterCommit);
  const args = ["push", world.source(createPlaces(3)), "--map", map, "--mode", "append", "--settle-time", "20"];
  const result = await run(args, { url: bare.url });
  expect(result).toMatchObject({ status: 12 });
  expect(result.stderr).toMatch(/the outcome is unknown for 3 features/);
  // One with features and two empty ones, which show that the service replays nothing.
  expect(bare.count("POST")).toBe(3);
  expect(await world.features(map)).toHaveLength(3);
});

test("an interruption is reported with the completed changes", async () => {
  const map = await mapWith(createPlaces(12));
  proxy.on("GET", 1, faults.delayedBy(60_000));
  const args = ["push", world.source(createPlaces(13)), "--map", map, "--remote-field", "ref"];
  const result = await run(args, {
    watch: (child) => {
      const timer = setInterval(() => {
        if (proxy.count("GET") === 0) return;
        clearInterval(timer);
        child.kill("SIGINT");
      }, 20);
    },
  });
  stopped(result, 130, /interrupted/);
});
