/** Map Features Service Interface, section 4.5: partial update. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { describeOnEveryStore, point } from "../service-fixture.js";

describe("updating", () => {
  describeOnEveryStore((service) => {
    const patch = (features: readonly unknown[], remoteField?: string, headers = {}) =>
      service().features("PATCH", { ...(remoteField && { remoteField }), features }, { headers });
    const one = (id: string | undefined, body: unknown) => service().send("PATCH", `${service().path}/${id}`, { body });
    const propertiesOf = async () => (await service().all()).map(({ properties }) => properties);

    test("4.5 PATCH changes the features in the request only", async () => {
      const ids = await service().create(point({ n: 1 }), point({ n: 2 }));
      const { status, json } = await patch([{ id: ids[1], properties: { n: 3 } }]);
      expect(status).toBe(200);
      expect(json).toEqual({ success: [{ id: ids[1], message: "Feature successfully updated." }], failed: [] });
      expect(await propertiesOf()).toEqual([{ n: 1 }, { n: 3 }]);
    });

    test("4.5 PATCH merges properties one level deep: a value replaces, null removes", async () => {
      const [id] = await service().create(point({ a: 1, b: { c: 1, d: 2 }, e: "x" }));
      await patch([{ id, properties: { b: { c: 3 }, e: null, f: [null] } }]);
      expect(await propertiesOf()).toEqual([{ a: 1, b: { c: 3 }, f: [null] }]);
    });

    test("4.5 PATCH sets a property to null on request", async () => {
      const ids = await service().create(point({ a: 1, b: 2 }), point({ a: 3 }));
      const body = { nulls: "set", features: [{ id: ids[0], properties: { b: null, c: null } }] };
      expect((await service().features("PATCH", body)).status).toBe(200);
      expect((await one(ids[1], { nulls: "set", properties: { a: null } })).status).toBe(200);
      expect(await propertiesOf()).toEqual([{ a: 1, b: null, c: null }, { a: null }]);
      for (const nulls of ["keep", null, 1]) {
        expect((await service().features("PATCH", { ...body, nulls })).status).toBe(422);
        expect((await one(ids[1], { nulls, properties: {} })).status).toBe(422);
      }
    });

    test("4.5 PATCH treats remoteField null as absent", async () => {
      const [id] = await service().create(point({ a: 1 }));
      const features = [{ id, properties: { a: 2 } }];
      expect((await service().features("PATCH", { remoteField: null, features })).status).toBe(200);
      expect(await propertiesOf()).toEqual([{ a: 2 }]);
    });

    test("4.5 PATCH replaces a whole geometry, and keeps members that are not sent", async () => {
      const [id] = await service().create(point({ a: 1 }, [1, 2]));
      const line = {
        type: "LineString",
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      };
      await patch([{ id, geometry: line }]);
      expect(await service().all()).toMatchObject([{ id, geometry: line, properties: { a: 1 } }]);
      await patch([{ id, properties: { b: 2 } }]);
      expect(await service().all()).toMatchObject([{ id, geometry: line, properties: { a: 1, b: 2 } }]);
      await patch([{ type: "Feature", id, geometry: null }]);
      expect(await service().all()).toMatchObject([{ id, geometry: null }]);
    });

    test("4.5 PATCH reports which remoteField was dropped for a ninth, also in a replayed response", async () => {
      const names = Array.from({ length: 9 }, (_, i) => `field ${i}`);
      await service().create(point(Object.fromEntries(names.map((name) => [name, "a"]))));
      const headers = { "idempotency-key": "ninth" };
      const named = (name: string) => patch([{ properties: { [name]: "a", n: 1 } }], name, headers);
      for (const name of names.slice(0, 8)) {
        expect((await patch([{ properties: { [name]: "a" } }], name)).json).not.toHaveProperty("droppedRemoteField");
      }
      for (let i = 0; i < 2; i++)
        expect((await named("field 8")).json).toMatchObject({ droppedRemoteField: "field 0" });
    });

    test("4.5 PATCH finds features by remoteField", async () => {
      await service().create(point({ ref: "a", n: 1 }), point({ ref: "b", n: 2 }));
      const { json } = await patch([{ properties: { ref: "b", n: 3 } }], "ref");
      expect(json.success).toHaveLength(1);
      expect(await propertiesOf()).toEqual([
        { ref: "a", n: 1 },
        { ref: "b", n: 3 },
      ]);
    });

    test("4.5 PATCH creates nothing, and reports missing features as failures", async () => {
      const [id] = await service().create(point({ ref: "a" }));
      const missing = randomUUID();
      const some = await patch([
        { id, properties: { n: 1 } },
        { id: missing, properties: { n: 2 } },
      ]);
      expect([some.status, some.json.failed]).toMatchObject([200, [{ id: missing, path: "features[1].id" }]]);
      const none = await patch([{ properties: { ref: "b" } }], "ref");
      expect([none.status, none.json.code]).toEqual([422, "all-failed"]);
      expect(none.json.failed).toMatchObject([{ path: "features[0].properties.ref" }]);
      expect(await propertiesOf()).toEqual([{ ref: "a", n: 1 }]);
    });

    test("4.5 PATCH fails for a key that several features have", async () => {
      await service().create(point({ ref: "a" }), point({ ref: "a" }));
      expect((await patch([{ properties: { ref: "a", n: 1 } }], "ref")).status).toBe(422);
      expect(await propertiesOf()).toEqual([{ ref: "a" }, { ref: "a" }]);
    });

    test("4.5 PATCH fails only for features without a valid id or key", async () => {
      const [id] = await service().create(point({ ref: "a" }));
      const byId = await patch([{ id, properties: {} }, { properties: {} }, { id: 7 }, { id: "x" }, null]);
      expect(byId.json.failed).toMatchObject([1, 2, 3, 4].map((i) => ({ path: `features[${i}].id` })));
      const byKey = await patch([{ properties: { ref: "a" } }, { properties: {} }, { id }], "ref");
      expect(byKey.json.failed).toMatchObject([1, 2].map((i) => ({ path: `features[${i}].properties.ref` })));
    });

    test("4.5 PATCH rejects invalid values", async () => {
      const [id] = await service().create(point({ n: 1 }));
      const changes = [{ geometry: { type: "Point", coordinates: [0, 91] } }, { properties: null }, { type: "Point" }];
      for (const [i, path] of ["geometry.coordinates[1]", "properties", "type"].entries()) {
        const { status, json } = await patch([{ id, ...changes[i] }]);
        expect([status, json.failed]).toMatchObject([422, [{ id, path: `features[0].${path}` }]]);
      }
      expect(await service().all()).toEqual([{ ...point({ n: 1 }), id }]);
    });

    test("4.5 PATCH accepts at most 1000 features", async () => {
      const [id] = await service().create(point());
      const { json } = await patch(Array.from({ length: 1001 }, () => ({ id })));
      expect(json.code).toBe("too-many-features");
    });

    test("4.5 PATCH with the same Idempotency-Key is applied once", async () => {
      const [id] = await service().create(point({ n: 1 }));
      const headers = { "idempotency-key": randomUUID() };
      const first = await patch([{ id, properties: { n: 2 } }], undefined, headers);
      await patch([{ id, properties: { n: 3 } }]);
      const again = await patch([{ id, properties: { n: 2 } }], undefined, headers);
      expect([again.text, again.headers["idempotency-replayed"]]).toEqual([first.text, "true"]);
      expect(await propertiesOf()).toEqual([{ n: 3 }]);
    });

    test("4.5 PATCH updates a single feature by its path", async () => {
      const [id] = await service().create(point({ a: 1, b: 2 }));
      const { status, json } = await one(id, { properties: { b: 3 } });
      expect([status, json]).toEqual([
        200,
        { success: [{ id, message: "Feature successfully updated." }], failed: [] },
      ]);
      expect(await propertiesOf()).toEqual([{ a: 1, b: 3 }]);
      expect((await one(id!.toUpperCase(), { id, geometry: null })).status).toBe(200);
    });

    test("4.5 PATCH of a missing feature by its path returns 404", async () => {
      for (const id of [randomUUID(), "x", "%00", "..%2f"]) {
        const { status, json } = await one(id, { properties: {} });
        expect([status, json.code]).toEqual([404, "feature-not-found"]);
      }
    });

    test("4.5 PATCH by path rejects another id in the body, and invalid values", async () => {
      const [id] = await service().create(point({ n: 1 }));
      expect((await one(id, { id: randomUUID(), properties: { n: 2 } })).status).toBe(422);
      expect((await one(id, { geometry: { type: "Circle" } })).json.failed).toMatchObject([{ id }]);
      expect((await one(id, [])).status).toBe(422);
      expect(await propertiesOf()).toEqual([{ n: 1 }]);
    });
  });
});
