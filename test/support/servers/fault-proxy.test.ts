/** The effect of each fault on the client and on the service. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { WireFeature, WireSuccess } from "../../../src/remote/wire.js";
import {
  type AccountWithMap,
  createAccountWithMap,
  createScratchFolder,
  requestToken,
  ServiceProcess,
} from "../../service/service-process.js";
import { AlternativeService } from "./alternative-service.js";
import { FaultProxy, type ProxyFault } from "./fault-proxy.js";
import * as faults from "./proxy-faults.js";

interface Json {
  readonly features?: readonly WireFeature[];
  readonly success?: readonly WireSuccess[];
}

const service = await AlternativeService.start();
const proxy = await FaultProxy.start(service.url);
let map: string;
let token: string;

beforeEach(async () => {
  proxy.calm();
  map = service.newMap();
  token = await requestToken(proxy.url, service);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const place = (title: string, coordinates = [1.23456789, 2]) => ({
  type: "Feature",
  geometry: { type: "Point", coordinates },
  properties: { title },
});

const at = (url: string, id: string) => `${url}/api/v1/maps/${id}/features`;
const headers = (more: Record<string, string> = {}) => ({
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
  ...more,
});

const get = () => fetch(at(proxy.url, map), { headers: headers() });
const post = (...titles: readonly string[]) =>
  fetch(at(proxy.url, map), {
    method: "POST",
    headers: headers(),
    body: JSON.stringify({ features: titles.map((title) => place(title)) }),
  });

/** Status of a response, or null without one, and its text, or null if it is truncated. */
async function captureResponse(asked: Promise<Response>): Promise<[number | null, string | null]> {
  const answer = await asked.catch(() => null);
  return [answer?.status ?? null, (await answer?.text().catch(() => null)) ?? null];
}
const onMap = () => service.featuresOf(map).length;

test("without a fault, all exchanges pass and are counted", async () => {
  const [status, text] = await captureResponse(post("a", "b"));
  expect([status, onMap()]).toEqual([200, 2]);
  expect(JSON.parse(text!).success).toHaveLength(2);
  await get();
  expect([proxy.count("token"), proxy.count("POST"), proxy.count("GET"), proxy.count(), proxy.writes]).toEqual([
    1, 1, 1, 2, 1,
  ]);
});

describe("a request", () => {
  test.each<[ProxyFault, number, number | null, boolean]>([
    [faults.cutBeforeRequest, 0, null, false],
    [faults.cutInRequest, 0, null, false],
    [faults.cutAfterCommit, 1, null, false],
    [faults.cutInAnswer, 1, 200, false],
    [faults.respondBeforeCommit(429), 0, 429, true],
    [faults.respondBeforeCommit(503), 0, 503, true],
    [faults.respondAfterCommit(500), 1, 500, true],
    [faults.truncatedBody, 1, 200, true],
    [faults.delayedBy(1), 1, 200, true],
  ])("a request meets the fault $name", async (fault, stored, status, isWhole) => {
    proxy.on("POST", 1, fault);
    const [spoken, text] = await captureResponse(post("a"));
    expect(onMap()).toBe(stored);
    expect([spoken, text !== null]).toEqual([status, isWhole]);
    expect(proxy.passed.at(-1)!.faults).toEqual([fault.name]);
    expect((await captureResponse(post("b")))[0]).toBe(200);
    expect(onMap()).toBe(stored + 1);
  });

  test("a delayed request is applied after the connection was cut and the map was read", async () => {
    proxy.on("POST", 1, faults.delayedCommit);
    expect(await captureResponse(post("a"))).toEqual([null, null]);
    expect(onMap()).toBe(0);
    const read = async () => ((await (await get()).json()) as Json).features!.length;
    expect([await read(), await read()]).toEqual([0, 1]);
  });

  test("a delayed request is applied even if the map is not read", async () => {
    proxy.on("POST", 1, faults.delayedCommit);
    await captureResponse(post("a"));
    await proxy.quiet();
    expect(onMap()).toBe(1);
  });

  test("a held request is delayed by the configured time", async () => {
    proxy.on("GET", 1, faults.delayedBy(60_000));
    const asked = fetch(at(proxy.url, map), { headers: headers(), signal: AbortSignal.timeout(50) });
    await expect(asked).rejects.toThrow("timeout");
    expect(service.seen.at(-1)).toBe("POST /token");
  });
});

test("a response has Retry-After if configured", async () => {
  proxy.on("GET", 1, faults.respondBeforeCommit(429, 7)).on("GET", 2, faults.respondBeforeCommit(429));
  expect([(await get()).headers.get("retry-after"), (await get()).headers.get("retry-after")]).toEqual(["7", null]);
});

test("a truncated body is a complete message with half of the text", async () => {
  proxy.on("POST", 1, faults.truncatedBody);
  const text = await (await post("a")).text();
  expect(text).toMatch(/^\{"success":\[/);
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
});

test("an expired token stays expired, and another one is valid", async () => {
  proxy.on("GET", 2, faults.expiredTokenFault);
  expect([(await get()).status, (await get()).status, (await get()).status]).toEqual([200, 401, 401]);
  token = await requestToken(proxy.url, service);
  expect((await get()).status).toBe(200);
});

test("rules apply to the nth request of a method, and to as many that follow", async () => {
  proxy.on("GET", 2, faults.respondBeforeCommit(502), 2);
  const statuses = [];
  for (let n = 0; n < 4; n++) statuses.push((await get()).status);
  expect(statuses).toEqual([200, 502, 502, 200]);
});

test("another writer writes before or after the request", async () => {
  const other = (title: string) => () =>
    fetch(at(service.url, map), {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ features: [place(title)] }),
    });
  proxy
    .on("GET", 1, faults.concurrentWriter("before", other("a")))
    .on("GET", 2, faults.concurrentWriter("after", other("b")));
  const counts = [];
  for (let n = 0; n < 2; n++) counts.push(((await (await get()).json()) as Json).features!.length);
  expect(counts).toEqual([1, 1]);
  expect(onMap()).toBe(2);
});

test("the same seed chooses the same faults, at about the configured rate", () => {
  const chosenFaults = (seed: number) =>
    ["GET", "POST"].flatMap((method) => {
      const choose = faults.atRandom(seed, 0.25);
      const request = { method, path: "", headers: {}, body: Buffer.alloc(0) };
      return Array.from({ length: 400 }, (_, i) => choose(request, i + 1)?.name ?? null);
    });
  expect(chosenFaults(7)).toEqual(chosenFaults(7));
  expect(chosenFaults(7)).not.toEqual(chosenFaults(8));
  expect(chosenFaults(7).slice(0, 400)).not.toEqual(chosenFaults(7).slice(400));
  const happened = chosenFaults(7).filter((name) => name !== null);
  // 800 requests at 0.25: 200, within four standard deviations of 12.2.
  expect(Math.abs(happened.length - 200)).toBeLessThan(50);
  expect(new Set(happened).size).toBe(new Set(faults.transientFaults.map(({ name }) => name)).size);
});

describe("in front of our service", () => {
  const folder = createScratchFolder();
  const data = ["--data", folder.data()];
  let made: AccountWithMap;
  let running: ServiceProcess;
  beforeAll(async () => {
    made = await createAccountWithMap(data);
    running = await ServiceProcess.start([...data, "--log-level", "silent"]);
  });
  afterAll(() => running.end());

  async function behind(...standing: readonly ProxyFault[]) {
    const front = (await FaultProxy.start(running.url)).always(...standing);
    onTestFinished(() => front[Symbol.asyncDispose]());
    const authorization = `Bearer ${await requestToken(front.url, made)}`;
    return async (method: string, body?: object, more: Record<string, string> = {}) => {
      const answer = await fetch(at(front.url, made.map), {
        method,
        headers: { authorization, "content-type": "application/json", ...more },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, etag: answer.headers.get("etag"), text, json: () => JSON.parse(text) as Json };
    };
  }
  const a = (properties: object) => ({ ...place("a"), properties: { ref: "a", ...properties } });
  const put = (...features: readonly object[]) => ({ type: "FeatureCollection", remoteField: "ref", features });
  const idsIn = (list: readonly { readonly id: string }[] = []) => list.map(({ id }) => id);

  test("coordinates lose decimals, headers are removed, and successes are reordered", async () => {
    const headerless = faults.withoutHeaders("etag", "link", "if-match");
    const ask = await behind(faults.roundedTo(4), headerless, faults.shuffledSuccess);
    const { success } = (await ask("PUT", put(a({}), a({ ref: "b" })))).json();
    // An unmet precondition, which the service does not receive.
    const changed = await ask("PUT", put(a({}), a({ ref: "b" })), { "if-match": '"0"' });
    const shown = await ask("GET");
    const { features } = shown.json();
    expect(features![0]!.geometry).toEqual({ type: "Point", coordinates: [1.2346, 2] });
    expect(idsIn(features)).toEqual(idsIn(success).reverse());
    expect([changed.status, shown.etag]).toEqual([200, null]);
  });

  const held = { kept: 1, deep: { x: 1, y: { z: 2 } } };
  const patched = { ref: "a", deep: { y: { w: 3 } } };
  test.each<[string, number, readonly ProxyFault[], object]>([
    ["merges", 200, [], { ref: "a", kept: 1, deep: { y: { w: 3 } } }],
    ["replaces", 200, [faults.replacingPatch], { ref: "a", deep: { y: { w: 3 } } }],
    ["merges deeply", 200, [faults.deepPatch], { ref: "a", kept: 1, deep: { x: 1, y: { z: 2, w: 3 } } }],
    ["is refused", 405, [faults.rejectPatch(405)], { ref: "a", ...held }],
  ])("PATCH %s", async (_how, status, standing, expected) => {
    const ask = await behind(...standing);
    await ask("PUT", put(a(held)));
    const answer = await ask("PATCH", { remoteField: "ref", features: [{ properties: patched }] });
    const [shown] = (await ask("GET")).json().features!;
    expect([answer.status, shown!.properties]).toEqual([status, expected]);
    expect(shown!.geometry === null).toBe(standing.includes(faults.replacingPatch));
  });
});
