/** Attacks on the service, none of which succeed. */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { buildApp } from "../../src/service/app.js";
import { sendRawBytes } from "./raw-request.js";
import { describeOnEveryStore, point } from "./service-fixture.js";

const grant_type = "client_credentials_with_user";

/** Texts with a meaning for databases, shells, templates and JSON parsers. */
const texts = [
  "'; DROP TABLE features; --",
  "' OR '1'='1",
  '"; SELECT pg_sleep(9); --',
  "$1",
  "?",
  "%s %d",
  "\\",
  "\\'",
  "{{7*7}}",
  "#{7*7}",
  "<script>alert(1)</script>",
  "\u2028\u2029",
  "\r\nSet-Cookie: a=b",
  "../../etc/passwd",
  "NULL",
  "\u202e",
];
const names = ["__proto__", "constructor", "prototype", "hasOwnProperty", "toString", "toJSON", "then", "length"];

describe("attacks on the service", () => {
  describeOnEveryStore((service) => {
    const request = (form: Record<string, string>, from?: string) =>
      service().form("/token", { grant_type, ...form }, { ...(from && { from }) });

    test("writes to another account's map are rejected with every method", async () => {
      const { bob: as } = service();
      const [id] = await service().create(point({ ref: "a" }));
      const before = await service().features("GET");
      const features = [{ ...point({ ref: "a" }), id }];
      for (const body of [{ features }, { remoteField: "ref", features }, { features: [] }]) {
        for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
          expect((await service().features(method, body, { as })).status).toBe(403);
        }
      }
      const one = await service().send("PATCH", `${service().path}/${id}`, { as, body: { properties: { a: 1 } } });
      expect(one.status).toBe(403);
      const after = await service().features("GET");
      expect([after.text, after.headers.etag]).toEqual([before.text, before.headers.etag]);
    });

    test("ids of features of another map change nothing on that map", async () => {
      const { bob: as } = service();
      const [id] = await service().create(point({ n: 1 }));
      const path = `/api/v1/maps/${await service().newMap(as)}/features`;
      const features = [{ ...point({ n: 2 }), id }];
      await service().send("PUT", path, { as, body: { features } });
      await service().send("PATCH", path, { as, body: { features } });
      await service().send("DELETE", path, { as, body: { features } });
      expect(await service().all()).toEqual([{ ...point({ n: 1 }), id }]);
    });

    test("concurrent guesses are limited like sequential ones", async () => {
      const { clientId: client_id } = service().ann;
      const sent = Array.from({ length: 300 }, (_, i) => request({ client_id, client_secret: `gfs_${i}` }));
      const statuses = (await Promise.all(sent)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 401)).toHaveLength(10);
      expect(statuses.filter((status) => status === 429)).toHaveLength(290);
    });

    test("concurrent clients with the right secret are accepted", async () => {
      const { clientId: client_id, clientSecret: client_secret } = service().ann;
      const sent = Array.from({ length: 150 }, () => request({ client_id, client_secret }));
      expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([200]));
    });

    test("a limit lasts no longer than its window after the clock was set back", async () => {
      const { clientId: client_id, clientSecret: client_secret } = service().ann;
      for (let i = 0; i < 11; i++) await request({ client_id, client_secret: `gfs_${i}` });
      const before = service().now;
      service().now -= 24 * 3600_000;
      await request({ client_id, client_secret: "gfs_11" });
      service().now += 900_000;
      expect((await request({ client_id, client_secret })).status).toBe(200);
      service().now = before;
    });

    test("guessing a client secret is limited, and the response states when to retry", async () => {
      const { clientId: client_id, clientSecret: client_secret } = service().ann;
      for (let i = 0; i < 10; i++) {
        expect((await request({ client_id, client_secret: `gfs_${i}` })).status).toBe(401);
      }
      const stopped = await request({ client_id, client_secret: "gfs_10" });
      expect([stopped.status, stopped.json.error]).toEqual([429, "temporarily_unavailable"]);
      expect(Number(stopped.headers["retry-after"])).toBe(900);
      // Even the right secret is rejected, which would otherwise reveal it.
      expect((await request({ client_id, client_secret })).status).toBe(429);
      // Clients at other addresses are not affected.
      expect((await request({ client_id, client_secret }, "192.0.2.1")).status).toBe(200);
      const before = service().now;
      service().now += 900_000;
      expect((await request({ client_id, client_secret })).status).toBe(200);
      service().now = before;
    });

    test("guessing client ids is limited", async () => {
      for (let i = 0; i < 100; i++) await request({ client_id: `gfc_${i}`, client_secret: "gfs_x" });
      expect((await request({ client_id: "gfc_100", client_secret: "gfs_x" })).status).toBe(429);
    });

    test("the work for a request does not reveal whether a client id exists", async () => {
      const { ann, store, now } = service();
      const { account, credential, clientId } = await service().person("eve");
      await store.revokeCredential({ account, credential, now });
      const clients = [
        [ann.clientId, "gfs_wrong"],
        ["gfc_unknown", "gfs_wrong"],
        [clientId, "gfs_wrong"],
      ] as const;
      for (const [client_id, client_secret] of clients) {
        const asked: string[] = [];
        const watched = new Proxy(store, {
          get(of, name) {
            asked.push(String(name));
            return Reflect.get(of, name);
          },
        });
        const app = buildApp({ store: watched });
        const payload = new URLSearchParams({ grant_type, client_id, client_secret }).toString();
        const headers = { "content-type": "application/x-www-form-urlencoded" };
        const remoteAddress = service().address;
        const { statusCode, body } = await app.inject({
          method: "POST",
          url: "/token",
          headers,
          payload,
          remoteAddress,
        });
        expect([statusCode, JSON.parse(body).error_description]).toEqual([
          401,
          "The client id or its secret is wrong.",
        ]);
        expect(asked).toEqual(["credentialByClientId", "countAttempt", "countAttempt"]);
      }
    });

    test("addresses of one IPv6 network share a limit", async () => {
      const { clientId: client_id } = service().ann;
      const network = `2001:db8:${service().now % 4096}:1`;
      for (let i = 0; i < 10; i++) await request({ client_id, client_secret: "gfs_x" }, `${network}::${i + 1}`);
      expect((await request({ client_id, client_secret: "gfs_x" }, `${network}:a:b:c:d`)).status).toBe(429);
      expect((await request({ client_id, client_secret: "gfs_x" }, "2001:db8:ffff:2::1")).status).toBe(401);
    });

    test("names with a meaning in JavaScript are stored as data", async () => {
      const properties = `{${names.map((name, i) => `${JSON.stringify(name)}:${i}`).join(",")},"ref":"a"}`;
      const feature = `{"type":"Feature","geometry":null,"properties":${properties},"__proto__":{"type":"x"}}`;
      const body = `{"features":[${feature}],"__proto__":{"remoteField":"ref"},"constructor":{"prototype":{"a":1}}}`;
      expect((await service().features("POST", body)).status).toBe(201);
      const { text } = await service().features("GET");
      expect(text).toContain(`"properties":${properties}`);
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(Reflect.get({}, "remoteField")).toBeUndefined();
      for (const name of names) {
        const stub = `{"type":"Feature","geometry":null,"properties":{${JSON.stringify(name)}:"k"}}`;
        const wrapper = `{"remoteField":${JSON.stringify(name)},"features":[${stub}]}`;
        expect((await service().features("POST", wrapper)).status).toBe(201);
        expect((await service().features("DELETE", wrapper)).json.success).toHaveLength(1);
      }
      const [id] = (await service().all()).map((feature) => feature.id);
      await service().features("PATCH", `{"features":[{"id":"${id}","properties":{"__proto__":{"a":1}}}]}`);
      expect((await service().features("GET")).text).toContain('"__proto__":{"a":1}');
    });

    test("a body with millions of features is rejected before they are validated", async () => {
      // This took more than a minute when each feature was validated.
      const { status, json } = await service().features("POST", `{"features":[${"0,".repeat(4_900_000)}0]}`);
      expect([status, json.code]).toEqual([422, "too-many-features"]);
    });

    test("texts with a meaning for databases and parsers are stored as data", async () => {
      const features = texts.map((text) => point({ [text]: text, ref: text }));
      expect((await service().features("POST", { features })).status).toBe(201);
      expect((await service().all()).map(({ properties }) => properties)).toEqual(
        features.map((one) => one.properties),
      );
      for (const text of texts) {
        const stub = { type: "Feature", geometry: null, properties: { [text]: text } };
        const body = { remoteField: text, features: [stub] };
        expect((await service().features("DELETE", body)).json.success).toHaveLength(1);
      }
      expect(await service().all()).toEqual([]);
    });

    test("such texts in other places find nothing and break nothing", async () => {
      const { clientSecret: client_secret } = service().ann;
      for (const text of [...texts, ...names, "\u0000"]) {
        const path = encodeURIComponent(text);
        const places = [
          await service().send("GET", `/api/v1/maps/${path}/features`),
          await service().send("GET", `${service().path}?page=${path}`),
          await service().send("PATCH", `${service().path}/${path}`, { body: { properties: {} } }),
          await service().features("PUT", { features: [{ ...point(), id: text }] }),
          await service().features("DELETE", { features: [{ id: text }] }),
          await service().features("POST", { type: text, features: [] }),
          await request({ client_id: text, client_secret }, "192.0.2.77"),
          await service().send("GET", service().path, { as: null, headers: { authorization: `Bearer ${path}` } }),
        ];
        for (const { status } of places) expect([200, 400, 401, 404, 422, 429]).toContain(status);
        const created = await service().send("POST", "/api/v1/maps", { body: { name: text } });
        expect([201, 422]).toContain(created.status);
        if (created.status === 201) expect(created.json.name).toBe(text);
      }
      expect((await service().features("GET")).status).toBe(200);
    });

    test("path traversal leads to 404", async () => {
      const tricks = [
        "..",
        "%2e%2e",
        "..%2f",
        "%2e%2e%2f%2e%2e%2ftoken",
        "..%5c",
        "%00",
        "%c0%ae",
        "%",
        "%zz",
        "*",
        ";a=b",
        ".",
      ];
      for (const trick of tricks) {
        // Sent raw, since a client would resolve dots first.
        const line = `GET /api/v1/maps/${trick}/features HTTP/1.1`;
        const head = [line, "Host: localhost", `Authorization: Bearer ${service().ann.token}`, "Connection: close"];
        const raw = await sendRawBytes(service().app, `${head.join("\r\n")}\r\n\r\n`);
        expect([trick, raw.slice(0, 12)]).toEqual([trick, "HTTP/1.1 404"]);
      }
    });

    test("deep nesting is rejected before the body is parsed", async () => {
      const deep = (levels: number) =>
        `{"features":[{"type":"Feature","geometry":null,"properties":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}]}`;
      expect((await service().features("POST", deep(96))).status).toBe(201);
      for (const body of [deep(97), deep(100_000), "[".repeat(5_000_000), '{"a":'.repeat(1_000_000)]) {
        const { status, json } = await service().features("POST", body);
        expect([status, json.code]).toEqual([400, "nested-too-deeply"]);
      }
      // Brackets in strings do not count as nesting.
      expect((await service().features("POST", { features: [point({ a: '[{"\\"'.repeat(500) })] })).status).toBe(201);
    });

    test("hundreds of thousands of members are rejected before the body is parsed", async () => {
      const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`name ${i}`, i]));
      // The feature and its geometry have five more members.
      expect((await service().features("POST", { features: [point(members(9995))] })).status).toBe(201);
      const nested = point({ list: Array.from({ length: 5000 }, () => ({ a: 1, b: 2 })) });
      for (const body of [{ features: [point({}), point(members(9996))] }, { features: [nested] }]) {
        const { status, json } = await service().features("POST", body);
        expect([status, json.code]).toEqual([400, "too-many-members"]);
      }
      // Colons in strings do not count as members.
      expect((await service().features("POST", { features: [point({ a: '":'.repeat(20_000) })] })).status).toBe(201);
    });

    test("a gzip bomb is rejected at the size limit", async () => {
      // 1 GiB of zeros in 1 MiB.
      const part = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 });
      const bomb = Buffer.concat(Array.from({ length: 16 }, () => part));
      const before = process.memoryUsage().arrayBuffers;
      const { status, json } = await service().features("POST", bomb, { headers: { "content-encoding": "gzip" } });
      expect([status, json.code]).toEqual([413, "body-too-large"]);
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
    });

    test("numbers and texts that cannot be stored exactly are rejected", async () => {
      const bad = [
        "9007199254740993",
        "-9007199254740992",
        // Python's float(n): 1.2345678901234568e+29, 9.999999999999999e+21, and the exact 10^22 and 2^90 below.
        "123456789012345678901234567890",
        "-123456789012345678901234567890",
        '{"b":[1,9999999999999999000001]}',
        "1e400",
        "-1e400",
        '"\\ud800"',
        '"a\\u0000b"',
        '{"\\udc00":1}',
        "[[1e999]]",
      ];
      for (const value of bad) {
        const body = `{"features":[{"type":"Feature","geometry":null,"properties":{"a":${value}}}]}`;
        const { status, json } = await service().features("POST", body);
        expect([value, status, json.code]).toEqual([value, 422, "all-failed"]);
      }
      const good = [
        "9007199254740991",
        "1e21",
        "10000000000000000000000",
        "1237940039285380274899124224",
        "0.1234567890123456789012345",
        '"\\"123456789012345678901234567890"',
        "1.7976931348623157e308",
        "5e-324",
        '"\\ud83d\\ude00"',
        '"\\u0001"',
      ];
      for (const value of good) {
        const body = `{"features":[{"type":"Feature","geometry":null,"properties":{"a":${value}}}]}`;
        expect([value, (await service().features("POST", body)).status]).toEqual([value, 201]);
      }
      const kept = (await service().all()).map(({ properties }) => properties.a);
      expect(kept).toEqual(good.map((value) => JSON.parse(value)));
    });
  });
});
