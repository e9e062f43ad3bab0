/** Map Features Service Interface, section 4.6: deleting features. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { describeOnEveryStore, point } from "../service-fixture.js";

describe("deleting", () => {
  describeOnEveryStore((service) => {
    const remove = (body: object) => service().features("DELETE", body);
    const stub = (ref: unknown) => ({ type: "Feature", geometry: null, properties: { ref } });
    const propertiesOf = async () => (await service().all()).map(({ properties }) => properties);

    test("4.6 DELETE removes features by id", async () => {
      const ids = await service().create(point({ n: 1 }), point({ n: 2 }), point({ n: 3 }));
      const { status, json } = await remove({ features: [{ id: ids[2] }, { id: ids[0]!.toUpperCase() }] });
      expect(status).toBe(200);
      expect(json).toEqual({
        success: [ids[2], ids[0]].map((id) => ({ id, message: "Feature successfully deleted." })),
        failed: [],
      });
      expect(await propertiesOf()).toEqual([{ n: 2 }]);
    });

    test("4.6 DELETE removes features by remote field, without their ids", async () => {
      await service().create(point({ ref: "a" }), point({ ref: "b" }), point({ ref: 7 }));
      const body = { type: "FeatureCollection", remoteField: "ref", features: [stub("b"), stub(7)] };
      const { status, json } = await remove(body);
      expect([status, json.success!.length]).toEqual([200, 2]);
      expect(await propertiesOf()).toEqual([{ ref: "a" }]);
    });

    test("4.6 DELETE removes all features with a key", async () => {
      const ids = await service().create(point({ ref: "a" }), point({ ref: "a" }), point({ ref: "b" }));
      const { json } = await remove({ remoteField: "ref", features: [stub("a")] });
      expect(json.success).toMatchObject([{ id: ids[0] }, { id: ids[1] }]);
      expect(await propertiesOf()).toEqual([{ ref: "b" }]);
    });

    test("4.6 DELETE treats duplicate keys or ids in a request as one", async () => {
      const ids = await service().create(point({ ref: "a" }), point({ ref: "b" }), point({ ref: "c" }));
      const byKey = await remove({ remoteField: "ref", features: [stub("a"), stub("a")] });
      expect([byKey.status, byKey.json]).toMatchObject([200, { success: [{ id: ids[0] }], failed: [] }]);
      const byId = await remove({ features: [{ id: ids[1] }, { id: ids[1]!.toUpperCase() }] });
      expect([byId.status, byId.json]).toMatchObject([200, { success: [{ id: ids[1] }], failed: [] }]);
      expect(await propertiesOf()).toEqual([{ ref: "c" }]);
    });

    test("4.6 DELETE does not mistake a key with a lone surrogate for one with U+FFFD", async () => {
      await service().create(point({ ref: "a\ufffd" }));
      const { json } = await remove({ remoteField: "ref", features: [stub("a\ud83d")] });
      expect(json).toMatchObject({ success: [], failed: [{ path: "features[0].properties.ref" }] });
      expect(json.failed![0]!.message).toContain("surrogate");
      expect(await propertiesOf()).toEqual([{ ref: "a\ufffd" }]);
    });

    test("4.6 DELETE lists missing features as failures", async () => {
      const missing = randomUUID();
      const byId = await remove({ features: [{ id: missing }] });
      expect([byId.status, byId.json.success, byId.json.failed]).toMatchObject([
        200,
        [],
        [{ id: missing, path: "features[0].id", message: expect.any(String) }],
      ]);
      const byKey = await remove({ remoteField: "ref", features: [stub("a")] });
      expect([byKey.status, byKey.json.failed]).toMatchObject([200, [{ path: "features[0].properties.ref" }]]);
    });

    test("4.6 DELETE reports features without a valid identifier, and deletes the others", async () => {
      const [id] = await service().create(point({ ref: "a" }));
      const features = [{}, { id: 7 }, null, { id }];
      const { status, json } = await remove({ features });
      expect([status, json.success, json.failed]).toMatchObject([
        200,
        [{ id }],
        [0, 1, 2].map((i) => ({ path: `features[${i}].id` })),
      ]);
    });

    test("4.6 DELETE accepts at most 1000 features", async () => {
      const [id] = await service().create(point());
      expect((await remove({ features: Array.from({ length: 1001 }, () => ({ id })) })).json.code).toBe(
        "too-many-features",
      );
      expect(await service().all()).toHaveLength(1);
    });

    test("4.6 DELETE of no features deletes nothing", async () => {
      await service().create(point());
      expect((await remove({ features: [] })).json).toEqual({ success: [], failed: [] });
      expect(await service().all()).toHaveLength(1);
    });

    test("4.6 DELETE requires a body", async () => {
      await service().create(point());
      const { status, json } = await service().features("DELETE");
      expect([status, json.code]).toEqual([400, "body-missing"]);
      expect(await service().all()).toHaveLength(1);
    });
  });
});
