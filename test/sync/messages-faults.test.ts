/** What a person reads where source, options or service do not fit what was asked for; what words.test.ts does not have. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AlternativeService } from "../support/servers/alternative-service.js";
import type { FaultProxy, ProxyFault } from "../support/servers/fault-proxy.js";
import * as faults from "../support/servers/proxy-faults.js";
import type { SyncFixture } from "../support/sync/sync-fixture.js";
import { CommandFixture, createPlaces, expectFailure } from "./command-fixture.js";

let listener: CommandFixture;
let world: SyncFixture;
let proxy: FaultProxy;
beforeAll(async () => {
  listener = await CommandFixture.start();
  ({ world, proxy } = listener);
});
afterAll(() => listener[Symbol.asyncDispose]());

describe("a scope that the source knows nothing of", () => {
  const scope = ["--remote-field", "ref", "--scope", "layer=7"];

  test.each(["push", "delete"])("stops a %s, and says what the source has", async (command) => {
    const map = await listener.mapWith(createPlaces(20, () => ({ layer: 7 })));
    const source = world.source(createPlaces(2));
    const said = await listener.run([command, source, "--map", map, ...scope]);
    const words =
      /no feature has a property "layer".* none of the 2 features is in the scope layer=7; available properties: "ref", "title"/;
    listener.stopped(said, 3, words, /set "layer" to 7 on the features to sync, or correct --scope/);
    expect(await world.features(map)).toHaveLength(20);
  });

  test("is told of features that have another value, too: they are left out", async () => {
    const map = await listener.mapWith(createPlaces(20, () => ({ layer: 7 })));
    const source = world.source(createPlaces(2, () => ({ layer: 8 })));
    const said = await listener.run(["delete", source, "--map", map, ...scope]);
    listener.stopped(said, 7, /0 features, 2 out of scope/, /features whose "layer" is not "7" are out of scope/);
    expect(await world.features(map)).toHaveLength(20);
  });

  test("is no matter for one that has no features", async () => {
    const map = await listener.mapWith(createPlaces(20, () => ({ layer: 7 })));
    const source = world.file("none.geojson", '{"type":"FeatureCollection","features":[]}');
    const said = await listener.run(["push", source, "--map", map, "--mode", "full", ...scope]);
    listener.stopped(said, 7, /has no features/, /--allow-empty/);
  });

  test("deletes what is in it", async () => {
    const map = await listener.mapWith(createPlaces(40, (i) => ({ layer: i % 2 ? 7 : 8 })));
    const source = world.source(createPlaces(4, () => ({ layer: 7 })));
    const said = await listener.run(["delete", source, "--map", map, ...scope, "--yes"]);
    expect(said.status, said.stderr).toBe(0);
    const refs = (await world.features(map)).map(({ properties }) => properties.ref);
    expect(["p0", "p1", "p2", "p3"].filter((ref) => refs.includes(ref))).toEqual(["p0", "p2"]);
    expect(refs).toHaveLength(38);
  });
});

describe("a full synchronisation deletes nothing", () => {
  test("by an input that is read to a limit", async () => {
    const map = await listener.mapWith(createPlaces(20));
    const said = await listener.push(createPlaces(20), map, "--remote-field", "ref", "--mode", "full", "--limit", "19");
    listener.stopped(said, 7, /was not read to its end \(--limit\)/, /--mode incremental, which deletes nothing/);
  });

  test("by an input that has a gap", async () => {
    const map = await listener.mapWith(createPlaces(20));
    const whole = JSON.stringify({ type: "FeatureCollection", features: createPlaces(20) });
    const source = world.file("torn.geojson", whole.slice(0, -40));
    const args = ["push", source, "--map", map, "--remote-field", "ref", "--mode", "full"];
    listener.stopped(await listener.run(args), 3, /torn\.geojson/);
    const said = await listener.run([...args, "--skip-errors"]);
    listener.stopped(said, 7, /1 part of the source could not be read/, /--mode incremental, which deletes nothing/);
  });
});

describe("a key that cannot be", () => {
  test("is the field of the ids that pull wrote", async () => {
    const map = await listener.mapWith(createPlaces(5));
    const pulled = join(world.folder, `${map}.csv`);
    expect(await listener.run(["pull", pulled, "--map", map])).toMatchObject({ status: 0 });
    const said = await listener.run(["push", pulled, "--map", map, "--remote-field", "id"]);
    listener.stopped(
      said,
      7,
      /"id" contains the ids that the service assigned/,
      /use --match id to match features by their ids/,
    );
  });

  test("is one that the source had the last time", async () => {
    const map = await listener.mapWith([]);
    expect(await listener.push(createPlaces(3), map, "--remote-field", "ref")).toMatchObject({ status: 0 });
    proxy.calm();
    const renamed = await listener.push(createPlaces(3), map, "--rename", "ref=code");
    listener.stopped(
      renamed,
      3,
      /has no field "ref", which identified the features of this map in earlier runs/,
      /"code"/,
    );
  });

  test("is the id where features are created anew", async () => {
    const map = await listener.mapWith(createPlaces(3));
    const pulled = join(world.folder, `${map}.geojson`);
    expect(await listener.run(["pull", pulled, "--map", map])).toMatchObject({ status: 0 });
    const changed = world.file(`${map}.changed.geojson`, readFileSync(pulled, "utf8").replace("Place 1", "Place X"));
    const args = ["push", changed, "--map", map, "--match", "id", "--update-with", "delete-create"];
    expectFailure(await listener.run(args), 2, /gives features new ids, by which --match id could not find them/);
    expect(proxy.count("DELETE")).toBe(0);
  });
});

describe("a service", () => {
  test("that refuses every feature is asked no more after some", async () => {
    const map = await listener.mapWith([]);
    proxy.choose(({ method }) => (method === "POST" ? faults.respondBeforeCommit(400) : null));
    const said = await listener.push(createPlaces(200), map, "--remote-field", "ref");
    expectFailure(
      said,
      10,
      /the service rejects every feature \(HTTP 400\)/,
      /fix the cause, then run the command again/,
    );
    expect(proxy.count("POST")).toBeLessThan(60);
  });

  test("that says it has updated what it has not is found out at the first one", async () => {
    const claimed: ProxyFault = {
      name: "claimed",
      async around({ body }) {
        const { features } = JSON.parse(body.toString()) as { features: readonly { id: string }[] };
        const success = features.map(({ id }) => ({ id, message: "Updated." }));
        const headers = { "content-type": "application/json" };
        return { status: 200, headers, body: Buffer.from(JSON.stringify({ success })) };
      },
    };
    const map = await listener.mapWith(createPlaces(5));
    proxy.choose(({ method }) => (method === "PATCH" ? claimed : null));
    const changed = createPlaces(5, (i) => ({ title: `New ${i}` }));
    const said = await listener.push(changed, map, "--remote-field", "ref");
    expectFailure(
      said,
      10,
      /reported feature .* as updated, but its property "title" is unchanged/,
      /--update-with delete-create/,
    );
    expect(proxy.count("PATCH")).toBe(1);
  });

  test("to which nothing comes through is given up, and nothing is there twice", async () => {
    const map = await listener.mapWith([]);
    proxy.choose(({ method }) => (method === "POST" ? faults.cutBeforeRequest : null));
    const said = await listener.push(createPlaces(3), map, "--remote-field", "ref", "--retries", "1");
    expectFailure(said, 8, /requests failed 2 times in a row/, /none of them was applied; run the command again later/);
    expect(await world.features(map)).toEqual([]);
    proxy.calm();
    expect(await listener.push(createPlaces(3), map, "--remote-field", "ref")).toMatchObject({ status: 0 });
    expect(await world.features(map)).toHaveLength(3);
  });

  test("that lists no maps says so", async () => {
    await using odd = await AlternativeService.start();
    const said = await listener.run(["maps"], { url: odd.url, as: odd });
    expectFailure(said, 4, /the service does not list its maps/);
  });
});

test("a plan of another version is refused", async () => {
  const map = await listener.mapWith(createPlaces(3));
  const path = join(world.folder, `${map}.plan`);
  const args = ["plan", world.source(createPlaces(4)), "--map", map, "--remote-field", "ref", "-o", path];
  expect(await listener.run(args)).toMatchObject({ status: 0 });
  const later = world.file(`${map}.later.plan`, readFileSync(path, "utf8").replace(/"version":\d+/, '"version":99'));
  const said = await listener.run(["apply", later]);
  listener.stopped(said, 3, /the plan has version 99, but this geoferry supports version \d+/, /geoferry plan/);
});

test("what a run had deleted to create it anew is created before anything else", async () => {
  const map = await listener.mapWith(createPlaces(5));
  const kept = join(world.folder, `${map}-kept/`);
  const source = world.source(createPlaces(5, () => ({ title: "new" })));
  const args = ["push", source, "--map", map, "--remote-field", "ref", "--settle-time", "20", "--backup", kept];
  args.push("--update-with", "delete-create");
  const first = await listener.run(args, {
    watch: (child) => {
      const interrupt: ProxyFault = {
        name: "interrupted",
        async around(request, upstream) {
          child.kill("SIGINT");
          // The process hears of it before it has its answer.
          await sleep(500);
          return upstream.send(request);
        },
      };
      proxy.on("DELETE", 1, interrupt);
    },
  });
  expect(first.status, first.stderr).toBe(130);
  expect(await world.features(map)).toEqual([]);
  proxy.calm();
  const [backup] = readdirSync(kept);
  const restored = await listener.run(["restore", join(kept, backup!)]);
  listener.stopped(restored, 10, /interrupted while it recreated features and must be finished first/);
  const second = await listener.run(args);
  expect(second.status, second.stderr).toBe(0);
  expect(second.stderr).toMatch(/features that an earlier run had deleted to create them anew/);
  expect((await world.features(map)).map(({ properties }) => properties.title)).toEqual(Array(5).fill("new"));
});
