/** Resolves map names with the real service, in every command that takes a map, `map:NAME` and job files. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { defaultTraffic } from "../../src/remote/client/map-client.js";
import { resolveMapId } from "../../src/remote/client/resolve-map-id.js";
import { createServiceClient } from "../../src/remote/client/service-client.js";
import { admin } from "../service/service-process.js";
import { createPlace, findFixtureKinds, type SyncFixture } from "../support/sync/sync-fixture.js";

const [sqlite] = await findFixtureKinds();
let world: SyncFixture;
let streets: string;
const twins: string[] = [];

/** `SyncFixture.newMap` names every map "Places". */
beforeAll(async () => {
  world = await sqlite!.start();
  streets = await world.newMap({ name: "Road network" });
  twins.push(await world.newMap({ name: "Twin" }), await world.newMap({ name: "Twin" }));
  await world.newMap({ name: streets });
  await world.fill(streets, [createPlace(1), createPlace(2)]);
});

const service = () =>
  createServiceClient({ url: world.url, ...world.ada }, defaultTraffic, new AbortController().signal);

async function run(...args: string[]) {
  const finished = await world.geoferry(args);
  expect(finished.status, finished.stderr).toBe(0);
  return finished;
}

test("a name costs one request and an id none, and an id takes precedence over an equal name", async () => {
  const one = service();
  expect(await resolveMapId(one, streets)).toBe(streets);
  expect(one.requestCount.GET).toBe(0);
  expect(await resolveMapId(one, "Road network")).toBe(streets);
  expect(await resolveMapId(one, "Road network")).toBe(streets);
  expect(one.requestCount.GET).toBe(1);
});

test("an ambiguous name is rejected with the ids", async () => {
  const { status, stderr } = await world.geoferry(["pull", "-", "--to", "geojson", "--map", "Twin"]);
  expect(status).toBe(10);
  for (const id of twins) expect(stderr).toContain(id);
});

test("an unknown name is reported as missing", async () => {
  const { status, stderr } = await world.geoferry(["pull", "-", "--to", "geojson", "--map", "Nowhere"]);
  expect({ status, stderr }).toMatchObject({ status: 10, stderr: expect.stringContaining("has no map Nowhere") });
});

test("a name that differs only in case is rejected with a suggestion", async () => {
  const { status, stderr } = await world.geoferry(["pull", "-", "--to", "geojson", "--map", "road  NETWORK"]);
  expect({ status, stderr }).toMatchObject({
    status: 10,
    stderr: expect.stringContaining('did you mean "Road network"?'),
  });
});

test("push, plan, verify, pull, delete, restore, check and map:NAME accept a name", async () => {
  const source = world.source([createPlace(1), createPlace(2), createPlace(3)]);
  const named = ["--map", "Road network"];
  await run("push", source, ...named, "--remote-field", "ref", "--backup", join(world.folder, "pushed.geojson"));
  expect((await world.features(streets)).length).toBe(3);
  await run("verify", source, ...named, "--remote-field", "ref", "--exit-code");
  const plan = join(world.folder, "named.plan");
  await run("plan", world.source([createPlace(4)]), ...named, "--remote-field", "ref", "-o", plan);
  expect(JSON.parse(readFileSync(plan, "utf8").split("\n")[0]!)).toMatchObject({ map: streets });
  await run("apply", plan, "--backup", join(world.folder, "applied.geojson"));
  await run("delete", world.source([createPlace(4)]), ...named, "--remote-field", "ref", "--max-delete", "1");
  await run("check", source, ...named);
  const pulled = JSON.parse((await run("pull", "-", "--to", "geojson", ...named)).stdout) as { features: object[] };
  expect(pulled.features).toHaveLength(3);
  const converted = await run("convert", "map:Road network", "-", "--to", "geojson");
  expect((JSON.parse(converted.stdout) as { features: object[] }).features).toHaveLength(3);
  await run("restore", join(world.folder, "pushed.geojson"), ...named, "--max-delete", "1");
  expect((await world.features(streets)).length).toBe(2);
});

test("a job file accepts a name", async () => {
  const source = world.source([createPlace(1), createPlace(2), createPlace(9)]);
  const job = join(world.folder, "job.yaml");
  writeFileSync(
    job,
    `name: nightly\nsteps:\n  - name: a\n    source: ${source}\n    target: {map: Road network, remoteField: ref}\n`,
  );
  await run("run", job);
  expect((await world.features(streets)).map(({ properties }) => properties.ref)).toContain(9);
});

test("a map of another account can be addressed by id", async () => {
  const { id } = admin("map add Road --owner bob@example.org", world.store);
  expect(await resolveMapId(service(), id!)).toBe(id);
});
