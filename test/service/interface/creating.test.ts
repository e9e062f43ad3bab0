/** Map Features Service Interface, section 4.3: creating features. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { describeOnEveryStore, point } from "../service-fixture.js";

describe("creating", () => {
  describeOnEveryStore((service) => {
    const propertiesOf = async () => (await service().all()).map(({ properties }) => properties);

    test("4.3 POST returns one success per feature, in order", async () => {
      const { status, json } = await service().features("POST", { features: [point({ n: 1 }), point({ n: 2 })] });
      expect(status).toBe(201);
      const kept = await service().all();
      expect(json).toEqual({
        success: kept.map(({ id }) => ({ id, message: "Feature successfully created." })),
        failed: [],
      });
      expect(kept.map(({ properties }) => properties)).toEqual([{ n: 1 }, { n: 2 }]);
    });

    test("4.3 POST assigns ids and ignores ids in the request", async () => {
      const sent = randomUUID();
      const ids = await service().create({ ...point(), id: sent }, { ...point(), id: sent }, { ...point(), id: 7 });
      expect(new Set([...ids, sent]).size).toBe(4);
    });

    test("4.3 POST creates features again if it is repeated", async () => {
      await service().create(point());
      await service().create(point());
      expect(await service().all()).toHaveLength(2);
    });

    test("4.3 POST accepts 1000 features, and creates none of 1001", async () => {
      const features = Array.from({ length: 1000 }, () => point());
      const all = await service().features("POST", { features });
      expect(all.status).toBe(201);
      expect(all.json.success).toHaveLength(1000);
      const more = await service().features("POST", { features: [...features, point()] });
      expect([more.status, more.json.code]).toEqual([422, "too-many-features"]);
      expect(await service().all()).toHaveLength(1000);
    });

    test("4.3 POST creates the valid features of a request", async () => {
      const features = [point({ n: 1 }), point({ n: 2 }, [181, 0]), point({ n: 3 })];
      const { status, json } = await service().features("POST", { features });
      expect([status, json.success!.length, json.failed!.length]).toEqual([200, 2, 1]);
      expect(await propertiesOf()).toEqual([{ n: 1 }, { n: 3 }]);
    });

    test("4.3 POST returns 422 if all features are invalid", async () => {
      const { status, headers, json } = await service().features("POST", { features: [{}, point({}, [0, 91])] });
      expect([status, json.code]).toEqual([422, "all-failed"]);
      expect(headers["content-type"]).toMatch(/^application\/problem\+json\b/);
      expect(json.failed).toMatchObject([
        { id: "00000000-0000-0000-0000-000000000000", path: "features[0].type" },
        { path: "features[1].geometry.coordinates[1]" },
      ]);
      expect(json.message).toEqual(expect.any(String));
      expect(await service().all()).toEqual([]);
    });

    test("4.3 POST of no features changes nothing", async () => {
      const { status, json } = await service().features("POST", { features: [] });
      expect([status, json]).toEqual([200, { success: [], failed: [] }]);
    });

    test("4.3 POST with remoteField updates matching features, and deletes none", async () => {
      await service().create(point({ ref: "a", n: 1 }), point({ ref: "b", n: 2 }));
      const features = [point({ ref: "b", n: 3 }), point({ ref: "c", n: 4 })];
      const { status, json } = await service().features("POST", { remoteField: "ref", features });
      expect(status).toBe(200);
      expect(json.success).toMatchObject([
        { message: "Feature successfully updated." },
        { message: "Feature successfully created." },
      ]);
      expect(await propertiesOf()).toEqual([
        { ref: "a", n: 1 },
        { ref: "b", n: 3 },
        { ref: "c", n: 4 },
      ]);
    });

    test("4.3 POST fails only for features without the remoteField", async () => {
      const features = [point({ ref: "a" }), point({}), point({ ref: null }), point({ ref: "" }), point({ ref: 1.5 })];
      const { status, json } = await service().features("POST", { remoteField: "ref", features });
      expect(status).toBe(200);
      expect(json.failed).toMatchObject([1, 2, 3, 4].map((i) => ({ path: `features[${i}].properties.ref` })));
      expect(await propertiesOf()).toEqual([{ ref: "a" }]);
    });

    test("4.3 POST with the same Idempotency-Key is applied once", async () => {
      const headers = { "idempotency-key": `"${randomUUID()}"` };
      const first = await service().features("POST", { features: [point()] }, { headers });
      const again = await service().features("POST", { features: [point()] }, { headers });
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect([first.headers["idempotency-replayed"], again.headers["idempotency-replayed"]]).toEqual([
        undefined,
        "true",
      ]);
      expect(await service().all()).toHaveLength(1);
    });

    test("4.3 POST rejects an Idempotency-Key that was used for another request", async () => {
      const headers = { "idempotency-key": randomUUID() };
      await service().features("POST", { features: [point({ n: 1 })] }, { headers });
      const { status, json } = await service().features("POST", { features: [point({ n: 2 })] }, { headers });
      expect([status, json.code]).toEqual([422, "idempotency-key-used"]);
      const other = await service().newMap(service().ann);
      const elsewhere = await service().send("POST", `/api/v1/maps/${other}/features`, {
        headers,
        body: { features: [point({ n: 1 })] },
      });
      expect(elsewhere.status).toBe(422);
    });

    test("4.3 POST accepts the same Idempotency-Key from another account", async () => {
      const headers = { "idempotency-key": randomUUID() };
      const { bob } = service();
      const map = await service().newMap(bob);
      const body = { features: [point()] };
      await service().features("POST", body, { headers });
      const others = await service().send("POST", `/api/v1/maps/${map}/features`, { as: bob, headers, body });
      expect(others.status).toBe(201);
    });

    test.each(["", "a b", "x".repeat(256), '"a""', "é"])(
      "4.3 POST rejects the invalid Idempotency-Key %j",
      async (key) => {
        const headers = { "idempotency-key": key };
        const { status, json } = await service().features("POST", { features: [point()] }, { headers });
        expect([status, json.code]).toEqual([400, "bad-header"]);
      },
    );

    test("4.3 POST applies only one of two concurrent requests with one Idempotency-Key", async () => {
      const headers = { "idempotency-key": randomUUID() };
      const features = Array.from({ length: 500 }, (_, n) => point({ n }));
      const answers = await Promise.all([1, 2, 3].map(() => service().features("POST", { features }, { headers })));
      // In flight, or replayed.
      for (const { status } of answers) expect([201, 409]).toContain(status);
      expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0);
      expect(await service().all()).toHaveLength(500);
    });

    test("4.3 POST is applied only to the version in If-Match", async () => {
      const { etag } = (await service().features("GET")).headers;
      const headers = { "if-match": etag! };
      const first = await service().features("POST", { features: [point()] }, { headers });
      expect(first.status).toBe(201);
      const second = await service().features("POST", { features: [point()] }, { headers });
      expect([second.status, second.json.code]).toEqual([412, "precondition-failed"]);
      const third = await service().features(
        "POST",
        { features: [point()] },
        { headers: { "if-match": first.headers.etag! } },
      );
      expect(third.status).toBe(201);
      const weak = await service().features(
        "POST",
        { features: [point()] },
        { headers: { "if-match": `W/${third.headers.etag}` } },
      );
      expect(weak.status).toBe(412);
      expect((await service().features("POST", { features: [point()] }, { headers: { "if-match": "*" } })).status).toBe(
        201,
      );
    });

    test("4.3 POST with If-Match and Idempotency-Key is replayed after the version has changed", async () => {
      const { etag } = (await service().features("GET")).headers;
      const headers = { "if-match": etag!, "idempotency-key": randomUUID() };
      const first = await service().features("POST", { features: [point()] }, { headers });
      const again = await service().features("POST", { features: [point()] }, { headers });
      expect([again.status, again.text]).toEqual([201, first.text]);
    });

    test("4.3 POST applies all features or none with Prefer: handling=strict (RFC 7240)", async () => {
      const headers = { prefer: 'return=minimal, handling="strict"' };
      const bad = await service().features("POST", { features: [point(), {}] }, { headers });
      expect([bad.status, bad.json.code]).toEqual([422, "refused"]);
      expect(bad.json.failed).toMatchObject([{ path: "features[1].type" }]);
      expect(await service().all()).toEqual([]);
      const good = await service().features("POST", { features: [point()] }, { headers });
      expect([good.status, good.headers["preference-applied"]]).toEqual([201, "handling=strict"]);
    });
  });
});
