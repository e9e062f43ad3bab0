/** Handles failing networks and services, one fault at a time. */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { MapClient, ServiceClient, Traffic } from "../../../src/remote/client/map-client.js";
import { createServiceClient } from "../../../src/remote/client/service-client.js";
import type { Connection } from "../../../src/remote/connection/connection.js";
import { json, page, plain, type Reply, reset, ScriptedServer, silent, torn } from "../scripted-server.js";

const secret = "gfs_the-secret-of-this-test";
const traffic: Traffic = { timeout: 20_000, retries: 2, rate: null, concurrency: 4, firstRetryDelay: 1 };

let server: ScriptedServer;
let service: ServiceClient;
let map: MapClient;
let ending: AbortController;

beforeAll(async () => {
  server = await ScriptedServer.start();
});
beforeEach(() => {
  server.answer(page());
  open();
});

function open(changes: Partial<Traffic & Connection> = {}): void {
  const { url = server.url, apiPath, tokenPath, ...rest } = changes;
  ending = new AbortController();
  const connection = {
    url,
    clientId: "client",
    clientSecret: secret,
    ...(apiPath && { apiPath }),
    ...(tokenPath && { tokenPath }),
  };
  service = createServiceClient(connection, { ...traffic, ...rest }, ending.signal);
  map = service.map("m");
}

const html = plain(200, "<!doctype html><title>Sign in</title>", { "content-type": "text/html" });
const created = json(201, { success: [{ id: "1", message: "made" }] });
const create = () => map.create(['{"type":"Feature"}'], "key");

test("requests uncompressed responses from a service on the same machine", async () => {
  server.answer(page(), created);
  await map.page(1);
  await create();
  expect(server.requests.map(({ method, headers }) => [method, headers["accept-encoding"]])).toEqual([
    ["GET", "identity"],
    ["POST", "identity"],
  ]);
});

describe("reading", () => {
  test.each<[string, Reply]>([
    ["a connection that is cut before the answer", reset],
    ["a connection that is cut in the answer", torn],
    ["an answer that is cut short", plain(200, '{"type":"FeatureColl', { "content-type": "application/json" })],
    ["a web page", html],
    ["nothing at all", plain(200)],
    ["500", plain(500)],
    ["502 with a page", plain(502, "<html>Bad gateway", { "content-type": "text/html" })],
    ["503", json(503, { message: "later" })],
    ["408", plain(408)],
    ["425", plain(425)],
    ["429", plain(429)],
  ])("the client retries a read after %s", async (_name, reply) => {
    server.answer(reply, page());
    expect(await map.page(1)).toMatchObject({ features: [], etag: null });
    expect(service.requestCount).toMatchObject({ GET: 2, token: 1 });
  });

  test.each<[string, Reply, string, string]>([
    ["cut connections", reset, "remote-unavailable", "closed the connection (tried 3 times)"],
    ["500", json(500, { message: "no disk" }), "remote-unavailable", "HTTP 500: no disk (tried 3 times)"],
    ["web pages", html, "remote-protocol-error", "HTTP 200 with an HTML page (tried 3 times)"],
  ])("a read fails after too many %s", async (_name, reply, code, words) => {
    server.answer(reply);
    await expect(map.page(1)).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    expect(service.requestCount.GET).toBe(3);
  });

  test.each<[number, string]>([
    [400, "remote-protocol-error"],
    [403, "remote-map-missing"],
    [404, "remote-map-missing"],
  ])("the client does not retry a read after %i", async (status, code) => {
    server.answer(plain(status));
    await expect(map.page(1)).rejects.toMatchObject({ code });
    expect(service.requestCount.GET).toBe(1);
  });

  test.each<[number, string]>([
    [403, "remote-unavailable"],
    [404, "remote-map-missing"],
    [410, "remote-map-missing"],
  ])("a later page is the end of the map after 404 or 410 only: %i", async (status, code) => {
    server.answer(plain(status));
    await expect(map.page(2)).rejects.toMatchObject({ code });
    expect(service.requestCount.GET).toBe(1);
  });

  test("the client limits the wait between retries", async () => {
    open({ timeout: 100, retries: 0 });
    server.answer(silent);
    await expect(map.page(1)).rejects.toMatchObject({
      code: "remote-unavailable",
      message: expect.stringContaining("no answer within 0.1 s (--timeout)"),
    });
  });
});

describe("writing", () => {
  test.each<[string, Reply, string]>([
    ["a connection that is cut before the answer", reset, "the server closed the connection"],
    ["a connection that is cut in the answer", torn, "the server closed the connection"],
    [
      "an answer that is cut short",
      plain(200, '{"success":[{"id"'),
      "HTTP 200 with a body that is not JSON or is incomplete",
    ],
    ["a web page", html, "HTTP 200 with an HTML page"],
    ["204", plain(204), "HTTP 204 with an empty body"],
    ["another object", json(200, { status: "ok" }), "HTTP 200 with an unexpected JSON object"],
    ["success that is no list", json(200, { success: true }), "HTTP 200 with an unexpected JSON object"],
    ["500", json(500, { message: "no disk" }), "HTTP 500: no disk"],
    ["503", json(503, {}, { "retry-after": "0" }), "HTTP 503"],
    ["see other", plain(303, "", { location: "/done" }), "HTTP 303, a redirect to /done"],
  ])("the client reports a write as in doubt after %s, without sending it again", async (_name, reply, reason) => {
    server.answer(reply);
    expect(await create()).toEqual({ kind: "in-doubt", reason });
    expect(service.requestCount.POST).toBe(1);
  });

  test("the client reports a write as in doubt after a timeout", async () => {
    open({ timeout: 100 });
    server.answer(silent);
    expect(await create()).toEqual({ kind: "in-doubt", reason: "no answer within 0.1 s (--timeout)" });
  });

  test.each<[string, Reply]>([
    ["408", plain(408)],
    ["425", plain(425)],
    ["429", plain(429)],
    ["409 with Retry-After: the Idempotency-Key is in use", json(409, {}, { "retry-after": "0" })],
    ["503 of a service that reads keys", json(503, { code: "reading-keys" }, { "retry-after": "0" })],
  ])("the client retries a write after %s, since nothing was applied", async (_name, reply) => {
    server.answer(reply, created);
    expect(await create()).toMatchObject({ kind: "answered", success: [{ id: "1" }], failed: [] });
    expect(server.requests.map(({ headers }) => headers["idempotency-key"])).toEqual(['"key"', '"key"']);
  });

  test("the client reports a write as in doubt while its Idempotency-Key is in use, despite retries or interruption", async () => {
    const reason = "HTTP 409: another request has this key";
    const inUse = json(409, { message: "another request has this key" }, { "retry-after": "0" });
    server.answer(inUse);
    expect(await create()).toEqual({ kind: "in-doubt", reason });
    expect(service.requestCount.POST).toBe(3);
    server.answer(json(409, { message: "another request has this key" }, { "retry-after": "7200" }));
    expect(await create()).toEqual({ kind: "in-doubt", reason });
    open({ retries: 1_000_000 });
    server.answer(inUse, inUse, (response, received) => {
      ending.abort();
      inUse(response, received);
    });
    expect(await create()).toEqual({ kind: "in-doubt", reason });
  });

  test("the client retries a write beyond the retry limit while the service reads keys", async () => {
    const reading = json(
      503,
      { code: "reading-keys", message: "its keys are still being read (7 %)" },
      { "retry-after": "0" },
    );
    open({ retries: 1 });
    server.answer(...Array.from({ length: 10 }, () => reading), created);
    expect(await create()).toMatchObject({ kind: "answered", success: [{ id: "1" }] });
    expect(server.requests.length).toBe(11);
  });

  test.each<[string, Reply, object]>([
    ["400", json(400, { message: "no" }), { kind: "refused", status: 400, reason: "HTTP 400: no", failed: [] }],
    ["409", json(409, {}), { kind: "refused", status: 409 }],
    ["422", json(422, { detail: "no" }), { kind: "refused", status: 422, reason: "HTTP 422: no" }],
    ["412", plain(412), { kind: "changed" }],
    ["413", html413(), { kind: "too-large", reason: "HTTP 413 with an HTML page" }],
    ["405", plain(405), { kind: "not-offered", status: 405 }],
    ["501", plain(501), { kind: "not-offered", status: 501 }],
  ])("a write with the response %s was not applied", async (_name, reply, outcome) => {
    server.answer(reply);
    expect(await create()).toMatchObject(outcome);
    expect(service.requestCount.POST).toBe(1);
  });

  test.each<[string, Reply, object]>([
    ["only success", json(200, { success: [{ id: "1", message: "m" }] }), { success: [{ id: "1" }], failed: [] }],
    ["null for failed", json(200, { success: [{ id: "1" }], failed: null }), { success: [{ id: "1", message: "" }] }],
    [
      "only failed, with odd paths",
      json(200, { failed: [{ path: 1, message: { a: 1 } }, { id: "2", path: "features[1]", message: "m" }, "no"] }),
      {
        success: [],
        failed: [
          { id: "00000000-0000-0000-0000-000000000000", path: "1", message: '{"a":1}' },
          { id: "2", path: "features[1]", message: "m" },
          { id: "00000000-0000-0000-0000-000000000000", path: "", message: "no" },
        ],
      },
    ],
    ["success without ids", json(200, { success: [{}, null, { id: "1" }] }), { success: [{ id: "1", message: "" }] }],
    ["422 with failed", json(422, { failed: [{ id: "2", path: "p", message: "m" }] }), { failed: [{ id: "2" }] }],
    ["404 with failed", json(404, { failed: [{ id: "2", path: "p", message: "m" }] }), { failed: [{ id: "2" }] }],
    ["deleted", json(200, { success: [], deleted: 3 }), { deleted: 3 }],
    ["an entity tag", json(200, { success: [] }, { etag: '"7-gzip"' }), { etag: '"7"', deleted: null }],
    ["an entity tag of mod_brotli", json(200, { success: [] }, { etag: '"7-br"' }), { etag: '"7"', deleted: null }],
  ])("the client reports results for each feature: %s", async (_name, reply, outcome) => {
    server.answer(reply);
    expect(await create()).toMatchObject({ kind: "answered", ...outcome });
  });

  test("a write to another account's map is forbidden", async () => {
    server.answer(plain(403));
    await expect(create()).rejects.toMatchObject({ code: "remote-forbidden", kind: "authentication" });
  });

  test("the client reports 404 as not-offered if the map exists", async () => {
    server.answer(plain(404), page());
    expect(await map.update(["{}"], "ref", "key")).toEqual({ kind: "not-offered", status: 404 });
    server.answer(plain(404));
    await expect(map.update(["{}"], "ref", "key")).rejects.toMatchObject({ code: "remote-map-missing" });
  });
});

function html413(): Reply {
  return plain(413, "<html>Request Entity Too Large</html>", { "content-type": "text/html" });
}

describe("an unreachable service", () => {
  test("the client retries a write that was not sent, then throws", async () => {
    const other = await ScriptedServer.start();
    other.token = json(200, { access_token: "t", token_type: "Bearer", expires_in: 3600 }, { connection: "close" });
    open({ url: other.url });
    await service.signIn();
    await other.close();
    await expect(create()).rejects.toMatchObject({
      code: "remote-unavailable",
      message: expect.stringContaining("the server refuses the connection (tried 3 times)"),
    });
    expect(service.requestCount).toMatchObject({ POST: 3, token: 1 });
  });
});

describe("rate limiting", () => {
  const between = () => server.requests[1]!.at - server.requests[0]!.at;

  test.each<[string, Record<string, string>]>([
    ["seconds", { "retry-after": "1" }],
    ["a date", { date: "Fri, 31 Dec 1999 23:59:58 GMT", "retry-after": "Fri, 31 Dec 1999 23:59:59 GMT" }],
  ])("the client waits for the Retry-After time in %s", async (_name, headers) => {
    server.answer(plain(429, "", headers), created);
    expect(await create()).toMatchObject({ kind: "answered" });
    expect(between()).toBeGreaterThan(990);
  });

  test("the client pauses all requests, also when no requests remain", async () => {
    server.answer(json(200, { type: "FeatureCollection", features: [] }, { ratelimit: '"account";r=0;t=1' }), page());
    await map.page(1);
    await Promise.all([map.page(2), map.page(3)]);
    expect(between()).toBeGreaterThan(990);
  });

  test("the client does not wait for hours", async () => {
    server.answer(plain(429, "", { "retry-after": "7200" }));
    await expect(create()).rejects.toMatchObject({ code: "remote-unavailable" });
    expect(service.requestCount.POST).toBe(1);
  });

  test("the client keeps the configured rate", async () => {
    open({ rate: 20 });
    await Promise.all([1, 2, 3, 4].map((number) => map.page(number)));
    const times = server.received.map(({ at }) => at);
    // One token request and four pages, 50 ms apart.
    expect(times).toHaveLength(5);
    expect(times.at(-1)! - times[0]!).toBeGreaterThan(180);
  });

  test("the client stops waiting when the run is interrupted", async () => {
    server.answer(plain(429, "", { "retry-after": "600" }));
    const outcome = create();
    await expect.poll(() => server.requests.length).toBe(1);
    ending.abort();
    await expect(outcome).rejects.toMatchObject({ code: "interrupted" });
    await expect(map.page(1)).rejects.toMatchObject({ code: "interrupted" });
    expect(server.requests).toHaveLength(1);
  });

  test("the client waits for a write in flight despite an interruption", async () => {
    server.answer((response, received) => {
      ending.abort();
      setTimeout(() => created(response, received), 50);
    });
    expect(await create()).toMatchObject({ kind: "answered" });
  });

  test("the client aborts a read when the run is interrupted", async () => {
    server.answer(() => ending.abort());
    await expect(map.page(1)).rejects.toMatchObject({ code: "interrupted" });
  });
});

test("the client limits the number of concurrent requests", async () => {
  open({ concurrency: 2 });
  let [now, most] = [0, 0];
  server.answer((response, received) => {
    now++;
    most = Math.max(most, now);
    setTimeout(() => {
      now--;
      page()(response, received);
    }, 10);
  });
  await Promise.all(Array.from({ length: 8 }, (_, i) => map.page(i + 1)));
  expect(most).toBe(2);
});

describe("access tokens", () => {
  /** Authorizes requests with one of these tokens. */
  const only =
    (...tokens: readonly string[]): Reply =>
    (response, received) =>
      tokens.some((token) => received.headers.authorization === `Bearer ${token}`)
        ? page()(response, received)
        : plain(401)(response, received);

  /** Issues these tokens in turn. */
  const giving = (tokens: readonly string[], expires: unknown = 3600): Reply => {
    const left = [...tokens];
    return (response, received) =>
      json(200, { token_type: "bearer", expires_in: expires, access_token: left.shift() ?? "none" })(
        response,
        received,
      );
  };

  test("the client replaces an accepted token once for all requests when it is rejected", async () => {
    server.answer(only("one"));
    server.token = giving(["one", "two"]);
    await map.page(1);
    server.script = [only("two")];
    const pages = await Promise.all(Array.from({ length: 8 }, (_, i) => map.page(i + 1)));
    expect(pages).toHaveLength(8);
    expect(service.requestCount.token).toBe(2);
  });

  test("a rejected new token stops all requests", async () => {
    server.answer(only());
    server.token = giving(["one", "two", "three"]);
    const failures = await Promise.allSettled([map.page(1), create()]);
    expect(failures).toMatchObject([
      { reason: { code: "remote-credentials", kind: "authentication" } },
      { reason: { code: "remote-credentials" } },
    ]);
    const sent = { ...service.requestCount };
    await expect(create()).rejects.toMatchObject({ code: "remote-credentials" });
    expect(service.requestCount).toEqual({ ...sent, token: 1 });
  });

  test("requests a denied token only once", async () => {
    server.answer(only());
    server.token = plain(401);
    await Promise.allSettled([1, 2, 3].map((number) => map.page(number)));
    await expect(create()).rejects.toMatchObject({ code: "remote-credentials" });
    expect(service.requestCount).toEqual({ GET: 0, POST: 0, PUT: 0, PATCH: 0, DELETE: 0, token: 1 });
  });

  test("the client renews a token before it expires", async () => {
    server.answer(only("one", "two", "three"));
    server.token = giving(["one", "two", "three"], 0.001);
    for (const number of [1, 2, 3]) {
      await map.page(number);
      await sleep(5);
    }
    expect(service.requestCount).toMatchObject({ GET: 3, token: 3 });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer one",
      "Bearer two",
      "Bearer three",
    ]);
  });

  test("the client assumes a lifetime of one hour by default", async () => {
    server.token = json(200, { access_token: "one" });
    for (const number of [1, 2]) await map.page(number);
    expect(service.requestCount.token).toBe(1);
  });

  test.each<[string, Reply]>([
    ["503", plain(503)],
    ["429", plain(429)],
    ["a cut", reset],
    ["a torn answer", plain(200, '{"access_')],
  ])("requests a token again after %s", async (_name, reply) => {
    let first = true;
    const good = giving(["one"]);
    server.token = (response, received) => {
      (first ? reply : good)(response, received);
      first = false;
    };
    await service.signIn();
    expect(service.requestCount.token).toBe(2);
  });

  test.each<[string, Reply, string, string]>([
    ["a web page", html, "remote-protocol-error", "HTTP 200 with an HTML page; check the address"],
    ["404", plain(404), "remote-protocol-error", "/token: HTTP 404"],
    ["no token", json(200, {}), "remote-protocol-error", "the response contains no usable access token"],
    [
      "another kind",
      json(200, { access_token: "t", token_type: "mac" }),
      "remote-protocol-error",
      "no usable access token",
    ],
    [
      "a token with a line break",
      json(200, { access_token: "a\r\nb" }),
      "remote-protocol-error",
      "no usable access token",
    ],
    ["invalid_client", json(400, { error: "invalid_client" }), "remote-credentials", "HTTP 400: invalid_client"],
    [
      "unsupported_grant_type",
      json(400, { error: "unsupported_grant_type" }),
      "remote-protocol-error",
      "unsupported_grant_type",
    ],
    ["401", plain(401), "remote-credentials", "HTTP 401"],
  ])("a token response of %s fails without a retry", async (_name, reply, code, words) => {
    server.token = reply;
    await expect(service.signIn()).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    expect(service.requestCount.token).toBe(1);
  });
});

describe("secrets", () => {
  test("no message shows the client secret, even if a service echoes it", async () => {
    server.token = (response, received) =>
      json(401, { error: "invalid_client", error_description: `unknown: ${received.body}\u001b[2J` })(
        response,
        received,
      );
    const failure = (await service.signIn().catch((error: unknown) => error)) as Error;
    expect(failure.message).toContain("unknown: grant_type=client_credentials_with_user");
    expect(failure.message).not.toContain(secret);
    expect(failure.message).not.toContain("\u001b");
  });

  test("no message shows a token", async () => {
    server.answer((response, received) => json(400, { message: received.headers.authorization })(response, received));
    expect(await create()).toMatchObject({ reason: "HTTP 400: Bearer …" });
    await expect(map.page(1)).rejects.not.toMatchObject({ message: expect.stringContaining("a-token") });
  });

  test("secrets are not sent to another origin", async () => {
    const other = await ScriptedServer.start();
    server.answer(plain(307, "", { location: `${other.url}/api/v1/maps/m/features?key=1` }));
    await expect(create()).rejects.toMatchObject({
      code: "remote-protocol-error",
      message: expect.stringContaining(`a redirect to ${other.url}/api/v1/maps/m/features; check`),
    });
    await expect(map.page(1)).rejects.toMatchObject({ code: "remote-protocol-error" });
    server.token = plain(308, "", { location: `${other.url}/token` });
    open();
    await expect(service.signIn()).rejects.toMatchObject({ code: "remote-protocol-error" });
    expect(other.received).toEqual([]);
  });

  test("secrets follow redirects within the origin", async () => {
    server.answer(plain(308, "", { location: "/moved" }), created);
    expect(await create()).toMatchObject({ kind: "answered" });
    expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /api/v1/maps/m/features",
      "POST /moved",
    ]);
    expect(server.requests[1]!.headers.authorization).toMatch(/^Bearer /);
    expect(server.requests[1]!.body).toBe(server.requests[0]!.body);
  });

  test("circular redirects end", async () => {
    server.answer(plain(302, "", { location: "/again" }));
    await expect(map.page(1)).rejects.toMatchObject({ code: "remote-protocol-error" });
    expect(server.requests).toHaveLength(6);
  });
});

test("the client uses the configured paths", async () => {
  open({ url: `${server.url}/base/`, apiPath: "api/v2/", tokenPath: "token" });
  server.script = [
    (response, received) =>
      received.path === "/base/token"
        ? json(200, { access_token: "t" })(response, received)
        : page()(response, received),
  ];
  await map.page(3);
  expect(server.received.map(({ path }) => path)).toEqual([
    "/base/token",
    "/base/api/v2/maps/m/features?page=3&per_page=500",
  ]);
});

test("the client follows the pages of a map list, but only on the same service", async () => {
  const one = (name: string) => ({
    id: name,
    name,
    private: false,
    owner: { name: "Ada" },
    features: 0,
    revision: 0,
    created: "2026-11-22T00:00:00Z",
  });
  server.answer(
    json(200, { maps: [one("a"), one("b")] }, { link: '<https://elsewhere.example/x?after=b&per_page=2>; rel="next"' }),
    json(200, { maps: [one("c")] }),
  );
  expect((await service.maps())!.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  expect(server.requests.map(({ path }) => path).slice(-2)).toEqual([
    "/api/v1/maps",
    "/api/v1/maps?after=b&per_page=2",
  ]);
});

test("the client returns no list for a service without one", async () => {
  for (const reply of [plain(404), plain(405), json(200, {}), json(200, { maps: [{ id: 1 }] }), json(200, [])]) {
    server.answer(reply);
    expect(await service.maps()).toBeNull();
  }
});
