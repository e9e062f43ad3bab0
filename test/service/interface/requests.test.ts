/**
 * Map Features Service Interface, sections 7 and 8, and requirements of HTTP: errors, limits and the order of checks.
 */
import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { describeOnEveryStore, type Person, point, type RequestOptions } from "../service-fixture.js";

const writing = ["POST", "PUT", "PATCH", "DELETE"] as const;
const body = { features: [point()] };

describe("requests", () => {
  describeOnEveryStore((service) => {
    const post = (sent: RequestOptions, path = service().path) => service().send("POST", path, sent);

    test("7 errors are problem details for users and programs (RFC 9457)", async () => {
      const { status, headers, json } = await service().features("GET", undefined, { as: null });
      expect(headers["content-type"]).toMatch(/^application\/problem\+json\b/);
      expect(headers["cache-control"]).toBe("no-store");
      expect(json).toEqual({
        type: "about:blank",
        title: "Unauthorized",
        status,
        detail: expect.any(String),
        message: json.detail,
        code: "not-authenticated",
        requestId: headers["x-request-id"],
      });
    });

    test("7 failures have id, path and message, beside the successes", async () => {
      const features = [
        point({ ok: 1 }),
        {
          ...point(),
          geometry: {
            type: "LineString",
            coordinates: [
              [0, 0],
              [0, "1"],
            ],
          },
        },
      ];
      const { json } = await service().features("POST", { features });
      expect(json.success).toHaveLength(1);
      expect(json.failed).toEqual([
        {
          id: "00000000-0000-0000-0000-000000000000",
          path: "features[1].geometry.coordinates[1][1]",
          message: "The latitude must be a number.",
        },
      ]);
    });

    test("7 checks run in the order token, map, owner, media type, size, JSON, version, features", async () => {
      const { path, ann, bob } = service();
      const nowhere = path.replace(service().map, randomUUID());
      const long = Buffer.alloc(11 * 1024 * 1024, 32);
      const [csv, stale, json] = [
        { "content-type": "text/csv" },
        { "if-match": '"99"' },
        { "content-type": "application/json" },
      ];
      const order: readonly [number, RequestOptions, string?][] = [
        [401, { as: null, headers: { ...csv, ...stale }, body: long }, nowhere],
        [404, { as: bob, headers: { ...csv, ...stale }, body: long }, nowhere],
        [403, { as: bob, headers: { ...csv, ...stale }, body: long }],
        [415, { as: ann, headers: { ...csv, ...stale }, body: long }],
        [413, { as: ann, headers: { ...json, ...stale }, body: long }],
        [400, { as: ann, headers: { ...json, ...stale }, body: "{" }],
        [412, { as: ann, headers: { ...json, ...stale }, body: { features: 7 } }],
        [422, { as: ann, headers: json, body: { features: 7 } }],
      ];
      for (const [status, sent, address] of order) expect((await post(sent, address)).status).toBe(status);
    });

    test.each(writing)("7 %s rejects bodies that are not JSON", async (method) => {
      const good = Buffer.from(JSON.stringify(body));
      const bad = [
        "{",
        "",
        "undefined",
        "{'features':[]}",
        '{"features":[NaN]}',
        "[1,]",
        Buffer.from([0x22, 0xff, 0x22]),
      ];
      for (const one of [...bad, Buffer.concat([good, good])]) {
        const { status, json } = await service().features(method, one);
        expect([status, json.code]).toEqual([400, one === "" ? "body-missing" : "bad-json"]);
      }
      const { status, json } = await service().send(method, service().path);
      expect([status, json.code]).toEqual([400, "body-missing"]);
    });

    test("7 bodies without a Content-Type are rejected", async () => {
      const { app, path, ann } = service();
      const headers = { authorization: `Bearer ${ann.token}` };
      const { statusCode, body: text } = await app.inject({
        method: "POST",
        url: path,
        headers,
        payload: Buffer.from("{}"),
      });
      expect([statusCode, JSON.parse(text).code]).toEqual([400, "content-type-missing"]);
    });

    test.each([
      ["text/plain", 415],
      ["application/x-www-form-urlencoded", 415],
      ["multipart/form-data; boundary=x", 415],
      ["application/json; charset=iso-8859-1", 415],
      ["application/jsonx", 415],
      ["json", 415],
      ["application/json;charset=UTF-8", 201],
      ["application/geo+json", 201],
      ["APPLICATION/JSON", 201],
    ])("7 the Content-Type %s is checked", async (type, expected) => {
      const { status, json } = await service().features("POST", body, { headers: { "content-type": type } });
      expect([status, json.code]).toEqual([expected, expected === 415 ? "unsupported-media-type" : undefined]);
    });

    test("7 encodings other than gzip are rejected with the supported ones (RFC 9110, 15.5.16)", async () => {
      const { status, headers, json } = await service().features("POST", body, {
        headers: { "content-encoding": "br" },
      });
      expect([status, json.code, headers["accept-encoding"]]).toEqual([415, "unsupported-encoding", "gzip"]);
    });

    test("7 bodies may be compressed with gzip", async () => {
      const packed = gzipSync(JSON.stringify(body));
      const headers = { "content-encoding": "gzip" };
      expect((await service().features("POST", packed, { headers })).status).toBe(201);
      for (const torn of [packed.subarray(0, -9), Buffer.from("{}"), Buffer.from("{")]) {
        const { status, json } = await service().features("POST", torn, { headers });
        expect([status, json.code]).toEqual([400, "bad-gzip"]);
      }
    });

    test("7 only the methods in the Allow header are accepted", async () => {
      for (const method of ["TRACE", "PROPFIND"]) {
        const { status, json, headers } = await service().send(method, service().path);
        expect([status, json.code]).toEqual([405, "method-not-allowed"]);
        expect(headers.allow).toBe("DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT");
      }
      const one = await service().send("GET", `${service().path}/${randomUUID()}`);
      expect([one.status, one.headers.allow]).toEqual([405, "OPTIONS, PATCH"]);
      const description = await service().send("POST", "/openapi.json", { body: {} });
      expect([description.status, description.headers.allow]).toEqual([405, "GET, HEAD"]);
      const refused = await service().send("OPTIONS", "/sign-in", { as: null });
      expect([refused.status, refused.headers.allow]).toEqual([405, "GET, HEAD, POST"]);
    });

    test("paths with a trailing slash are accepted", async () => {
      const [id] = await service().create(point({ a: 1 }));
      const { path, ann } = service();
      expect((await service().send("GET", `${path}/?per_page=1`)).json.features).toHaveLength(1);
      const changed = await service().send("PATCH", `${path}/${id}/`, { body: { properties: { a: 2 } } });
      expect(changed.status).toBe(200);
      const form = { client_id: ann.clientId, client_secret: ann.clientSecret };
      const grant_type = "client_credentials_with_user";
      expect((await service().form("/token/", { grant_type, ...form })).status).toBe(200);
      expect((await service().send("GET", "/token/")).headers.allow).toBe("POST");
    });

    test("7 unknown paths return 404", async () => {
      for (const path of ["/api", "/api/v1", "/api/v1/map", `${service().path}//`, "/nowhere", "//"]) {
        const { status, json } = await service().send("GET", path);
        expect([path, status, json.code]).toEqual([path, 404, "not-found"]);
      }
    });

    test.each(["x", "1", "%00", "%2e%2e", "..%2f..%2ftoken", "%zz", "__proto__", "'%20OR%201=1--", "a".repeat(200)])(
      "7 a malformed MAP_ID returns 404: %s",
      async (id) => {
        for (const method of ["GET", "POST"]) {
          const path = `/api/v1/maps/${id}/features`;
          expect((await service().send(method, path, method === "POST" ? { body } : {})).status).toBe(404);
        }
      },
    );

    test("7 each response has the id of its request", async () => {
      const answers = await Promise.all([1, 2].map(() => service().features("GET")));
      const ids = answers.map(({ headers }) => headers["x-request-id"]);
      expect(ids[0]).toMatch(/^[\da-f-]{36}$/);
      expect(ids[1]).not.toBe(ids[0]);
    });

    test("8 bodies are limited to 10 MiB after decompression", async () => {
      const padded = (bytes: number) => {
        const text = JSON.stringify(body);
        return Buffer.from(text + " ".repeat(bytes - text.length));
      };
      const [most, more] = [padded(10 * 1024 * 1024), padded(10 * 1024 * 1024 + 1)];
      const gzip = { headers: { "content-encoding": "gzip" } };
      expect((await service().features("POST", most)).status).toBe(201);
      expect((await service().features("POST", gzipSync(most), gzip)).status).toBe(201);
      for (const { status, json } of [
        await service().features("POST", more),
        await service().features("POST", gzipSync(more), gzip),
      ]) {
        expect([status, json.code]).toEqual([413, "body-too-large"]);
      }
    });

    test.each(writing)("8 %s is limited to 1000 features", async (method) => {
      const features = Array.from({ length: 1001 }, () => ({ ...point(), id: randomUUID() }));
      const { status, json } = await service().features(method, { features });
      expect([status, json.code]).toEqual([422, "too-many-features"]);
    });

    test("8 responses report the remaining requests of the rate limit", async () => {
      const [first, second] = [await service().features("GET"), await service().features("GET")];
      expect(first.headers["ratelimit-policy"]).toBe('"account";q=100000;w=60');
      expect([first, second].map(({ headers }) => headers.ratelimit)).toEqual([
        expect.stringMatching(/^"account";r=99999;t=\d+$/),
        expect.stringMatching(/^"account";r=99998;t=\d+$/),
      ]);
    });

    test("scripts of any site may use the API and read its headers (Fetch standard)", async () => {
      const headers = {
        origin: "https://example.org",
        "access-control-request-method": "PUT",
        "access-control-request-headers": "authorization, if-match",
      };
      const preflight = await service().send("OPTIONS", service().path, { as: null, headers });
      expect(preflight.status).toBe(204);
      expect(preflight.headers).toMatchObject({
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
        "access-control-allow-headers": "authorization, if-match",
      });
      for (const as of [service().ann, null]) {
        const answer = await service().features("GET", undefined, { as, headers: { origin: "https://example.org" } });
        expect(answer.headers["access-control-allow-origin"]).toBe("*");
        expect(answer.headers["access-control-allow-credentials"]).toBeUndefined();
        const exposed = answer.headers["access-control-expose-headers"]!.split(", ");
        expect(exposed).toEqual(expect.arrayContaining(["ETag", "Link", "Retry-After", "RateLimit"]));
      }
    });

    test("scripts of other sites may use nothing but the API", async () => {
      for (const [method, path] of [
        ["POST", "/token"],
        ["OPTIONS", "/token"],
        ["GET", "/nowhere"],
      ] as const) {
        const { headers } = await service().send(method, path, {
          as: null,
          headers: { origin: "https://example.org" },
        });
        expect(headers["access-control-allow-origin"]).toBeUndefined();
      }
    });
  });
});

describe("maps above the limit", () => {
  describeOnEveryStore(
    (service) => {
      test("are refused, and those of other accounts are not affected", async () => {
        const create = (as: Person) => service().send("POST", "/api/v1/maps", { as, body: { name: "More" } });
        // Ann has one already.
        expect((await create(service().ann)).status).toBe(201);
        const { status, json } = await create(service().ann);
        expect([status, json.code]).toEqual([422, "too-many-maps"]);
        expect((await create(service().bob)).status).toBe(201);
      });
    },
    { mapsPerAccount: 2 },
  );
});

describe("requests above the rate limit", () => {
  describeOnEveryStore(
    (service) => {
      test("8 requests above the rate limit return 429 with Retry-After", async () => {
        for (const left of [2, 1, 0]) {
          expect((await service().features("GET")).headers.ratelimit).toMatch(new RegExp(`;r=${left};`));
        }
        const { status, headers, json } = await service().features("POST", Buffer.alloc(11 * 1024 * 1024), {});
        expect([status, json.code]).toEqual([429, "rate-limited"]);
        expect(Number(headers["retry-after"])).toBeGreaterThan(0);
        expect(headers.ratelimit).toMatch(/^"account";r=0;t=\d+$/);
        // Missing permissions are reported first, and other accounts are not affected.
        expect((await service().features("POST", body, { as: service().bob })).status).toBe(403);
      });
    },
    { requestsPerMinute: 3 },
  );
});
