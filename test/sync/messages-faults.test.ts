/** Messages for sources, options and services that do not fit the request; complements messages.test.ts. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

describe("an unknown scope property", () => {
  const scope = ["--remote-field", "ref", "--scope", "layer=7"];

  test.each(["push", "delete"])(
    "an unknown scope property stops a %s and lists the properties of the source",
    async (command) => {
      const map = await listener.mapWith(createPlaces(20, () => ({ layer: 7 })));
      const source = world.source(createPlaces(2));
      const result = await listener.run([command, source, "--map", map, ...scope]);
      const words =
        /no feature has a property "layer".* none of the 2 features is in the scope layer=7; available properties: "ref", "title"/;
      listener.stopped(result, 3, words, /set "layer" to 7 on the features to sync, or correct --scope/);
      expect(await world.features(map)).toHaveLength(20);
    },
  );

  test("features with other scope values are reported as omitted", async () => {
    const map = await listener.mapWith(createPlaces(20, () => ({ layer: 7 })));
    const source = world.source(createPlaces(2, () => ({ layer: 8 })));
    const result = await listener.run(["delete", source, "--map", map, ...scope]);
    listener.stopped(result, 7, /0 features, 2 out of scope/, /features whose "layer" is not "7" are out of scope/);
    expect(await world.features(map)).toHaveLength(20);
  });

  test("an empty source needs no scope property", async () => {
    const map = await listener.mapWith(createPlaces(20, () => ({ layer: 7 })));
    const source = world.file("none.geojson", '{"type":"FeatureCollection","features":[]}');
    const result = await listener.run(["push", source, "--map", map, "--mode", "full", ...scope]);
    listener.stopped(result, 7, /has no features/, /--allow-empty/);
  });

  test("delete mode deletes within the scope", async () => {
    const map = await listener.mapWith(createPlaces(40, (i) => ({ layer: i % 2 ? 7 : 8 })));
    const source = world.source(createPlaces(4, () => ({ layer: 7 })));
    const result = await listener.run(["delete", source, "--map", map, ...scope, "--yes"]);
    expect(result.status, result.stderr).toBe(0);
    const refs = (await world.features(map)).map(({ properties }) => properties.ref);
    expect(["p0", "p1", "p2", "p3"].filter((ref) => refs.includes(ref))).toEqual(["p0", "p2"]);
    expect(refs).toHaveLength(38);
  });
});

describe("guards of full mode", () => {
  test("an input read up to --limit stops a full sync", async () => {
    const map = await listener.mapWith(createPlaces(20));
    const result = await listener.push(
      createPlaces(20),
      map,
      "--remote-field",
      "ref",
      "--mode",
      "full",
      "--limit",
      "19",
    );
    listener.stopped(result, 7, /was not read to its end \(--limit\)/, /--mode incremental, which deletes nothing/);
  });

  test("an input with a skipped part stops a full sync", async () => {
    const map = await listener.mapWith(createPlaces(20));
    const whole = JSON.stringify({ type: "FeatureCollection", features: createPlaces(20) });
    const source = world.file("torn.geojson", whole.slice(0, -40));
    const args = ["push", source, "--map", map, "--remote-field", "ref", "--mode", "full"];
    listener.stopped(await listener.run(args), 3, /torn\.geojson/);
    const result = await listener.run([...args, "--skip-errors"]);
    listener.stopped(result, 7, /1 part of the source could not be read/, /--mode incremental, which deletes nothing/);
  });
});

describe("invalid keys", () => {
  test("the field with ids written by pull is rejected as a key", async () => {
    const map = await listener.mapWith(createPlaces(5));
    const pulled = join(world.folder, `${map}.csv`);
    expect(await listener.run(["pull", pulled, "--map", map])).toMatchObject({ status: 0 });
    const result = await listener.run(["push", pulled, "--map", map, "--remote-field", "id"]);
    listener.stopped(
      result,
      7,
      /"id" contains the ids that the service assigned/,
      /use --match id to match features by their ids/,
    );
  });

  test("a remembered key that is missing from the source is reported", async () => {
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

  test("matching by id is rejected with --update-with delete-create", async () => {
    const map = await listener.mapWith(createPlaces(3));
    const pulled = join(world.folder, `${map}.geojson`);
    expect(await listener.run(["pull", pulled, "--map", map])).toMatchObject({ status: 0 });
    const changed = world.file(`${map}.changed.geojson`, readFileSync(pulled, "utf8").replace("Place 1", "Place X"));
    const args = ["push", changed, "--map", map, "--match", "id", "--update-with", "delete-create"];
    expectFailure(await listener.run(args), 2, /gives features new ids, so --match id could not find them/);
    expect(proxy.count("DELETE")).toBe(0);
  });
});

describe("service failures", () => {
  test("a run stops after several rejections if the service rejects every feature", async () => {
    const map = await listener.mapWith([]);
    proxy.choose(({ method }) => (method === "POST" ? faults.respondBeforeCommit(400) : null));
    const result = await listener.push(createPlaces(200), map, "--remote-field", "ref");
    expectFailure(
      result,
      10,
      /the service rejects every feature \(HTTP 400\)/,
      /fix the cause, then run the command again/,
    );
    expect(proxy.count("POST")).toBeLessThan(60);
  });

  test("a run detects at the first update that the service does not apply it", async () => {
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
    const result = await listener.push(changed, map, "--remote-field", "ref");
    expectFailure(
      result,
      10,
      /reported feature .* as updated, but its property "title" is unchanged/,
      /--update-with delete-create/,
    );
    expect(proxy.count("PATCH")).toBe(1);
  });

  test("a run gives up without duplicates if no request succeeds", async () => {
    const map = await listener.mapWith([]);
    proxy.choose(({ method }) => (method === "POST" ? faults.cutBeforeRequest : null));
    const result = await listener.push(createPlaces(3), map, "--remote-field", "ref", "--retries", "1");
    expectFailure(
      result,
      8,
      /requests failed 2 times in a row/,
      /none of them was applied; run the command again later/,
    );
    expect(await world.features(map)).toEqual([]);
    proxy.calm();
    expect(await listener.push(createPlaces(3), map, "--remote-field", "ref")).toMatchObject({ status: 0 });
    expect(await world.features(map)).toHaveLength(3);
  });

  test("a run that gives up names the redirect that it got for each request", async () => {
    const map = await listener.mapWith([]);
    const redirect: ProxyFault = {
      name: "redirect",
      async around() {
        const headers = { location: "https://maps.example/api/v1/maps/m/features?token=x" };
        return { status: 303, headers, body: Buffer.alloc(0) };
      },
    };
    proxy.choose(({ method }) => (method === "POST" ? redirect : null));
    const result = await listener.push(createPlaces(3), map, "--remote-field", "ref", "--retries", "1");
    expectFailure(
      result,
      8,
      /\(the last: HTTP 303, a redirect to https:\/\/maps\.example\/api\/v1\/maps\/m\/features\)/,
    );
  });

  test("a run reports a service that does not list maps", async () => {
    await using odd = await AlternativeService.start();
    const result = await listener.run(["maps"], { url: odd.url, as: odd });
    expectFailure(result, 4, /the service does not list its maps/);
  });
});

test("rejects a plan of another version", async () => {
  const map = await listener.mapWith(createPlaces(3));
  const path = join(world.folder, `${map}.plan`);
  const args = ["plan", world.source(createPlaces(4)), "--map", map, "--remote-field", "ref", "-o", path];
  expect(await listener.run(args)).toMatchObject({ status: 0 });
  const later = world.file(`${map}.later.plan`, readFileSync(path, "utf8").replace(/"version":\d+/, '"version":99'));
  const result = await listener.run(["apply", later]);
  listener.stopped(result, 3, /the plan has version 99, but this geoferry supports version \d+/, /geoferry plan/);
});

test("a run recreates features of an interrupted run first", async () => {
  const map = await listener.mapWith(createPlaces(5));
  const kept = join(world.folder, `${map}-kept/`);
  const source = world.source(createPlaces(5, () => ({ title: "new" })));
  const args = ["push", source, "--map", map, "--remote-field", "ref", "--settle-time", "20", "--backup", kept];
  args.push("--update-with", "delete-create");
  const first = await listener.run(args, {
    watch: (child) => {
      const interrupt = faults.interrupting(child);
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
  expect(second.stderr).toMatch(/completing delete-create updates that an earlier run left unfinished/);
  expect((await world.features(map)).map(({ properties }) => properties.title)).toEqual(Array(5).fill("new"));
});
