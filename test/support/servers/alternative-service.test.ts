/** The alternative service conforms to the interface, and differs from ours where the interface is open. */
import { afterAll, describe, expect, test } from "vitest";
import { requestToken } from "../../service/service-process.js";
import type { ServiceBehavior } from "./alternative-map.js";
import { AlternativeService } from "./alternative-service.js";

const started: AlternativeService[] = [];
afterAll(() => Promise.all(started.map((one) => one[Symbol.asyncDispose]())));

/**
 * Starts a service with a map; returns a function that requests its features, with the status and the text or JSON of
 * the response.
 */
async function startAlternative(manners: Partial<ServiceBehavior> = {}) {
  const service = await AlternativeService.start(manners);
  started.push(service);
  const map = service.newMap();
  const token = await requestToken(service.url, service);
  const ask = async (method: string, body?: object, query = "", of = map): Promise<[number, unknown]> => {
    const answer = await fetch(`${service.url}/api/v1/maps/${of}/features${query}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return [answer.status, text.startsWith("{") ? JSON.parse(text) : text];
  };
  const titles = () =>
    service
      .featuresOf(map)
      .map(({ properties }) => properties.title)
      .sort();
  return { service, map, ask, titles };
}

const place = (title: string, more: object = {}) => ({
  type: "Feature",
  geometry: { type: "Point", coordinates: [1.23456789, -0.00000001] },
  properties: { title, ...more },
});
const collection = (features: readonly object[], more: object = {}) => ({
  type: "FeatureCollection",
  ...more,
  features,
});
const done = (message: string) => ({ id: expect.stringMatching(/^[0-9A-F-]{36}$/), message });

describe("tokens", () => {
  test("tokens are requested with a form, and have three members", async () => {
    const { service } = await startAlternative();
    const ask = (form: object) =>
      fetch(`${service.url}/token`, { method: "POST", body: new URLSearchParams({ ...form }) });
    const grant = { grant_type: "client_credentials_with_user", client_id: service.clientId };
    const good = await ask({ ...grant, client_secret: service.clientSecret });
    expect(await good.json()).toEqual({ token_type: "Bearer", expires_in: 3600, access_token: expect.any(String) });
    expect((await ask({ ...grant, client_secret: "another" })).status).toBe(401);
  });

  test("tokens are valid until they expire", async () => {
    const { service, ask } = await startAlternative();
    expect((await ask("GET"))[0]).toBe(200);
    service.expireTokens();
    expect(await ask("GET")).toEqual([401, "who are you?\n"]);
  });
});

describe("POST", () => {
  test("POST creates features with six decimals and reordered properties, and returns 200", async () => {
    const { service, map, ask } = await startAlternative();
    const answer = await ask("POST", { features: [place("a", { z: 1 }), place("b")] });
    expect(answer).toEqual([200, { success: Array(2).fill(done("Feature successfully created.")) }]);
    const [, page] = await ask("GET");
    const { features } = page as { features: readonly { properties: object }[] };
    expect(features.map(({ properties }) => properties)).toContainEqual({ title: "a", z: 1 });
    expect(JSON.stringify(features)).toContain('"coordinates":[1.234568,0]},"properties":{"z":1,"title":"a"}');
    expect(service.featuresOf(map)).toHaveLength(2);
  });

  test("POST accepts only features without ids", async () => {
    const { ask, titles } = await startAlternative();
    expect((await ask("POST", { features: [{ id: "x", ...place("a") }] }))[0]).toBe(400);
    expect((await ask("POST", collection([place("a")])))[0]).toBe(400);
    expect((await ask("POST", { features: Array(1001).fill(place("a")) }))[0]).toBe(400);
    expect(titles()).toEqual([]);
  });

  test("POST counts failures from 1, and omits empty arrays", async () => {
    const { ask } = await startAlternative({ titleLength: 1 });
    const [status, body] = await ask("POST", { features: [place("a"), place("bb")] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: [{}], failed: [{ path: "2/title", message: "the title is too long" }] });
    expect(await ask("POST", { features: [place("bb")] })).toEqual([200, { failed: [expect.anything()] }]);
  });

  test("POST updates features with the same value of a property if configured", async () => {
    const { ask, titles } = await startAlternative({ upsertBy: "ref" });
    await ask("POST", { features: [place("a", { ref: 1 }), place("b", { ref: "1" })] });
    await ask("POST", { features: [place("c", { ref: 1 }), place("d")] });
    expect(titles()).toEqual(["b", "c", "d"]);
  });

  test("POST limits the body size", async () => {
    const { ask, titles } = await startAlternative({ bodyBytes: 200 });
    expect(await ask("POST", { features: [place("a"), place("b")] })).toEqual([413, "too much at once\n"]);
    expect((await ask("POST", { features: [place("a")] }))[0]).toBe(200);
    expect(titles()).toEqual(["a"]);
  });
});

describe("PUT", () => {
  test("PUT creates, updates and deletes, by a property or by id", async () => {
    const { service, map, ask, titles } = await startAlternative({ putAnswer: "result" });
    await ask("POST", { features: [place("a", { ref: 1 }), place("b", { ref: 2 })] });
    const before = service.featuresOf(map).find(({ properties }) => properties.ref === 1)!.id;
    const sent = [place("c", { ref: 3 }), place("aa", { ref: 1 })];
    expect(await ask("PUT", collection(sent, { remoteField: "ref" }))).toEqual([
      200,
      { success: [done("ok"), done("ok")] },
    ]);
    expect(titles()).toEqual(["aa", "c"]);
    expect(service.featuresOf(map).find(({ properties }) => properties.ref === 1)!.id).toBe(before);

    await ask("PUT", collection([{ ...place("aaa"), id: before }]));
    expect(service.featuresOf(map)).toMatchObject([{ id: before, properties: { title: "aaa" } }]);
  });

  test("PUT responds with a sentence, and keeps the stored features of failed ones", async () => {
    const { ask, titles } = await startAlternative({ titleLength: 1 });
    await ask("POST", { features: [place("a", { ref: 1 }), place("b", { ref: 2 })] });
    const sent = collection([place("too long", { ref: 1 })], { remoteField: "ref" });
    expect(await ask("PUT", sent)).toEqual([200, "The map has 1 features now."]);
    expect(titles()).toEqual(["a"]);
  });
});

describe("DELETE", () => {
  test("DELETE removes by ids or by a property, and ignores missing features", async () => {
    const { service, map, ask, titles } = await startAlternative();
    await ask("POST", { features: ["a", "b", "c"].map((title, ref) => place(title, { ref })) });
    const { id } = service.featuresOf(map).find(({ properties }) => properties.title === "a")!;
    expect(await ask("DELETE", { features: [{ id }, { id: map }] })).toEqual([200, { success: [done("gone")] }]);
    const stub = (ref: number) => ({ type: "Feature", geometry: null, properties: { ref } });
    await ask("DELETE", collection([stub(1), stub(7)], { remoteField: "ref" }));
    expect(titles()).toEqual(["c"]);
  });
});

describe("GET", () => {
  test.each([
    ["nothing", "empty", [200, 0]],
    ["404", 404, [404, undefined]],
  ] as const)("GET has pages of 200, or of at most 500, and beyond the last %s", async (_what, beyondLast, beyond) => {
    const { ask } = await startAlternative({ beyondLast });
    const many = (count: number) => ({ features: Array(count).fill(place("a")) });
    await ask("POST", many(1000));
    await ask("POST", many(200));
    const count = async (query: string) => {
      const [status, page] = await ask("GET", undefined, query);
      return [status, (page as { features?: readonly object[] }).features?.length];
    };
    expect(await count("")).toEqual([200, 200]);
    expect(await count("?per_page=1000")).toEqual([200, 500]);
    expect(await count("?per_page=500&page=3")).toEqual([200, 200]);
    expect(await count("?per_page=500&page=4")).toEqual(beyond);
  });
});

test("PATCH, writes to maps of others, and unknown maps are rejected", async () => {
  const { service, ask } = await startAlternative();
  expect((await ask("PATCH", { features: [] }))[0]).toBe(404);
  const others = service.newMap(false);
  expect((await ask("GET", undefined, "", others))[0]).toBe(200);
  expect((await ask("POST", { features: [] }, "", others))[0]).toBe(403);
  expect((await ask("GET", undefined, "", "none"))[0]).toBe(404);
});
