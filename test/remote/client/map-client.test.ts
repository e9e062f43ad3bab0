/** Tests the map client against the real service. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { readCompleteSet } from "../../../src/remote/client/complete-set.js";
import {
  defaultTraffic,
  type MapClient,
  type ServiceClient,
  type WriteOutcome,
} from "../../../src/remote/client/map-client.js";
import { createServiceClient } from "../../../src/remote/client/service-client.js";
import { nilId } from "../../../src/remote/wire.js";
import {
  admin,
  createAccountWithMap,
  createScratchFolder,
  password,
  ServiceProcess,
} from "../../service/service-process.js";

const folder = createScratchFolder();
const never = new AbortController().signal;

let running: ServiceProcess;
let client: { clientId: string; clientSecret: string };
let service: ServiceClient;
let map: MapClient;
const store = ["--data", folder.data()];

beforeAll(async () => {
  client = await createAccountWithMap(store);
  running = await ServiceProcess.start(store);
  service = createServiceClient({ url: running.url, ...client }, defaultTraffic, never);
});

const newMap = () => service.map(admin(`map add Places-${randomUUID()} --owner ada@example.org`, store).id!);

const feature = (properties: object, coordinates: readonly number[] | null = [7.5, 47.25]): string =>
  JSON.stringify({ type: "Feature", geometry: coordinates && { type: "Point", coordinates }, properties });

type Answered = Extract<WriteOutcome, { kind: "answered" }>;

function answered(outcome: WriteOutcome): Answered {
  expect(outcome).toMatchObject({ kind: "answered" });
  return outcome as Answered;
}

const whole = (features: readonly string[]) => readCompleteSet({ texts: () => features, missingCount: 0 }, "ref");

describe("map client", () => {
  beforeAll(() => {
    map = newMap();
  });

  test("the map client creates, reads, updates, replaces and empties a map", async () => {
    expect(await map.page(1)).toMatchObject({ features: [] });
    const created = answered(await map.create([feature({ ref: "a" }), feature({ ref: "b" }, null)], "one"));
    expect(created.failed).toEqual([]);
    expect(created.success).toHaveLength(2);
    const page = (await map.page(1))!;
    expect(page.etag).toBe(created.etag);
    expect(page.features.map(({ geometry, properties }) => ({ geometry, properties }))).toEqual([
      { geometry: { type: "Point", coordinates: [7.5, 47.25] }, properties: { ref: "a" } },
      { geometry: null, properties: { ref: "b" } },
    ]);
    expect(await map.page(1, page.etag)).toBeNull();

    const patch = JSON.stringify({ properties: { ref: "a", title: "A" } });
    expect(answered(await map.update([patch], "ref", "two")).success).toEqual([
      { id: page.features[0]!.id, message: expect.any(String) },
    ]);
    expect(await map.replaceAll((await whole([feature({ ref: "a" })]))!, { ifMatch: page.etag })).toEqual({
      kind: "changed",
    });
    const replaced = answered(await map.replaceAll((await whole([feature({ ref: "a", title: "B" })]))!));
    expect(replaced.deleted).toBe(1);
    expect(answered(await map.remove({ remoteField: "ref", keys: ["a"] })).success).toHaveLength(1);
    expect((await map.page(1))!.features).toEqual([]);
  });

  test("the map client reports each feature that fails", async () => {
    const some = answered(await map.create([feature({ ref: "x" }), feature({ ref: "y" }, [7.5, 200])], "three"));
    expect(some.success).toHaveLength(1);
    expect(some.failed).toEqual([
      { id: nilId, path: "features[1].geometry.coordinates[1]", message: expect.stringContaining("latitude") },
    ]);
    const none = answered(await map.create([feature({}, [7.5, 200])], "four"));
    expect(none).toMatchObject({ success: [], failed: [{ path: "features[0].geometry.coordinates[1]" }] });
    expect(answered(await map.remove({ ids: some.success.map(({ id }) => id) })).success).toEqual([
      { id: some.success[0]!.id, message: expect.any(String) },
    ]);
  });

  test("the map client applies a request with a repeated Idempotency-Key only once", async () => {
    const first = answered(await map.create([feature({ ref: "k" })], "a-key"));
    const second = answered(await map.create([feature({ ref: "k" })], "a-key"));
    expect(second.success).toEqual(first.success);
    expect([first.replayed, second.replayed]).toEqual([false, true]);
    expect((await map.page(1))!.features).toHaveLength(1);
  });

  test("the map client reports a request that is too large", async () => {
    const large = feature({ text: "x".repeat(10 * 1024 * 1024) });
    // The response arrives while the body is still being sent, and must not be lost.
    for (let time = 0; time < 12; time++)
      expect(await map.create([large], `large-${time}`)).toMatchObject({ kind: "too-large" });
  });

  test("reads pages of 500 features", async () => {
    const many = newMap();
    for (const part of [0, 1]) {
      const features = Array.from({ length: 1000 }, (_, i) => feature({ n: part * 1000 + i }));
      expect(answered(await many.create(features, `part-${part}`)).success).toHaveLength(1000);
    }
    const pages = [];
    for (const number of [1, 2, 3, 4, 5]) pages.push((await many.page(number))!);
    expect(pages.map(({ features }) => features.length)).toEqual([500, 500, 500, 500, 0]);
    expect(pages.flatMap(({ features }) => features.map(({ properties }) => properties.n))).toEqual(
      Array.from({ length: 2000 }, (_, i) => i),
    );
    // Four were compressed; the last is too short for compression.
    expect(new Set(pages.map(({ etag }) => etag)).size).toBe(1);
  });
});

describe("map access", () => {
  test("the map client reports a missing map", async () => {
    await expect(service.map(randomUUID()).page(1)).rejects.toMatchObject({ code: "remote-map-missing" });
    await expect(service.map("../../x").page(1)).rejects.toMatchObject({ code: "remote-map-missing" });
    await expect(service.map(randomUUID()).create([feature({})], "k")).rejects.toMatchObject({
      code: "remote-map-missing",
    });
  });

  test("rejects a write to another account's map", async () => {
    admin("user add bob@example.org", store, password);
    const { id } = admin("map add Bobs --owner bob@example.org --public", store);
    const bobs = service.map(id!);
    expect((await bobs.page(1))!.features).toEqual([]);
    await expect(bobs.create([feature({})], "k")).rejects.toMatchObject({ code: "remote-forbidden" });
  });
});

test("the map client lists the maps of an account", async () => {
  const maps = (await service.maps())!;
  expect(maps.map(({ name }) => name)).toContain("Parks");
  expect(new Set(maps.map(({ owner }) => owner.email))).toEqual(new Set(["ada@example.org"]));
});

test("the map client counts requests by method", async () => {
  const own = createServiceClient({ url: `${running.url}/`, ...client }, defaultTraffic, never);
  await Promise.all([own.maps(), own.maps(), own.map(map.id).page(1)]);
  expect(own.requestCount).toEqual({ GET: 3, POST: 0, PUT: 0, PATCH: 0, DELETE: 0, token: 1 });
});
