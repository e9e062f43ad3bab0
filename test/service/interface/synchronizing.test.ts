/** Map Features Service Interface, section 4.4: full synchronisation. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { describeOnEveryStore, point } from "../service-fixture.js";

describe("synchronising", () => {
  describeOnEveryStore((service) => {
    const put = (features: readonly unknown[], remoteField?: string, headers = {}) =>
      service().features(
        "PUT",
        { type: "FeatureCollection", ...(remoteField && { remoteField }), features },
        { headers },
      );
    const propertiesOf = async () => (await service().all()).map(({ properties }) => properties);

    test("4.4 PUT creates, updates and deletes features, so that the map equals the request", async () => {
      const ids = await service().create(
        point({ ref: "a", n: 1 }),
        point({ ref: "b", n: 2 }),
        point({ ref: "c", n: 3 }),
      );
      const { status, json } = await put([point({ ref: "d", n: 4 }), point({ ref: "b", n: 5 })], "ref");
      expect(status).toBe(200);
      expect(json).toEqual({
        success: [
          { id: expect.any(String), message: "Feature successfully created." },
          { id: ids[1], message: "Feature successfully updated." },
        ],
        failed: [],
        deleted: 2,
      });
      expect(await propertiesOf()).toEqual([
        { ref: "b", n: 5 },
        { ref: "d", n: 4 },
      ]);
    });

    test("4.4 PUT replaces geometry and properties of matching features, and keeps their ids", async () => {
      const [id] = await service().create(point({ ref: "a", old: true }));
      await put([point({ ref: "a", fresh: true }, [1, 2])], "ref");
      expect(await service().all()).toEqual([{ ...point({ ref: "a", fresh: true }, [1, 2]), id }]);
    });

    test("4.4 PUT matches by id without remoteField", async () => {
      const [one, two] = await service().create(point({ n: 1 }), point({ n: 2 }));
      const { json } = await put([{ ...point({ n: 3 }), id: two!.toUpperCase() }, point({ n: 4 })]);
      expect(json.deleted).toBe(1);
      const kept = await service().all();
      expect(kept).toMatchObject([{ id: two, properties: { n: 3 } }, { properties: { n: 4 } }]);
      expect(kept.map(({ id }) => id)).not.toContain(one);
    });

    test("4.4 PUT creates a feature with the id in the request", async () => {
      const id = randomUUID();
      await put([{ ...point({ n: 1 }), id }]);
      await put([{ ...point({ n: 1 }), id }]);
      expect(await service().all()).toEqual([{ ...point({ n: 1 }), id }]);
    });

    test("4.4 PUT restores a backup", async () => {
      await service().create(point({ n: 1 }), point({ n: 2 }));
      const backup = await service().all();
      await put([]);
      expect(await service().all()).toEqual([]);
      await put(backup);
      expect(await service().all()).toEqual(backup);
    });

    test("4.4 PUT changes nothing if it is repeated", async () => {
      const features = [point({ ref: "a" }), point({ ref: "b" })];
      await put(features, "ref");
      const before = await service().features("GET");
      const { json } = await put(features, "ref");
      expect(json.deleted).toBe(0);
      const after = await service().features("GET");
      expect([after.text, after.headers.etag]).toEqual([before.text, before.headers.etag]);
    });

    test("4.4 PUT of no features empties the map", async () => {
      await service().create(point(), point());
      const { status, json } = await put([], "ref");
      expect([status, json]).toEqual([200, { success: [], failed: [], deleted: 2 }]);
    });

    test("4.4 PUT accepts at most 1000 features, and changes nothing for more", async () => {
      await service().create(point({ ref: "old" }));
      const features = Array.from({ length: 1001 }, (_, n) => point({ ref: n }));
      expect((await put(features, "ref")).json.code).toBe("too-many-features");
      expect(await propertiesOf()).toEqual([{ ref: "old" }]);
      const { status, json } = await put(features.slice(1), "ref");
      expect([status, json.success!.length, json.deleted]).toEqual([200, 1000, 1]);
    });

    test("4.4 PUT distinguishes numbers from strings in keys, and compares them by value", async () => {
      await service().create(point({ ref: 7 }), point({ ref: "7" }));
      const body =
        '{"remoteField":"ref","features":[{"type":"Feature","geometry":null,"properties":{"ref":7.0,"n":1}}]}';
      const { json } = await service().features("PUT", body);
      expect(json.success).toMatchObject([{ message: "Feature successfully updated." }]);
      expect(await propertiesOf()).toEqual([{ ref: 7, n: 1 }]);
    });

    test("4.4 PUT takes remoteField as a property name, not as a path", async () => {
      const names = [
        "a.b",
        "$.a",
        "a[0]",
        "",
        "__proto__",
        "constructor",
        "toString",
        "'; DROP TABLE features; --",
        '"',
      ];
      for (const name of names.filter((one) => one !== "")) {
        const properties = (n: number) => JSON.parse(`{"a":{"b":"k"},${JSON.stringify(name)}:"k","n":${n}}`) as object;
        await put([]);
        expect((await put([point(properties(1))], name)).json.success).toHaveLength(1);
        const { json } = await put([point(properties(2))], name);
        expect(json.success).toMatchObject([{ message: "Feature successfully updated." }]);
        expect(JSON.stringify(await propertiesOf())).toBe(JSON.stringify([properties(2)]));
        // Inherited members are not properties.
        expect((await put([point({ n: 3 })], name)).json.code).toBe("keys-unusable");
      }
    });

    test.each([[undefined], [null], [""], ["a\ud83d"], ["a\0"], [true], [1.5], [2 ** 53], [{ a: 1 }], [["a"]]])(
      "4.4 PUT changes nothing if a key is %j",
      async (ref) => {
        await service().create(point({ ref: "old" }));
        const { status, json } = await put([point({ ref: "new" }), point({ ref })], "ref");
        expect([status, json.code]).toEqual([422, "keys-unusable"]);
        expect(json.failed).toMatchObject([{ path: "features[1].properties.ref" }]);
        expect(await propertiesOf()).toEqual([{ ref: "old" }]);
      },
    );

    test.each([[7], ["7"], [true], [{}]])("4.4 PUT changes nothing if an id is %j", async (id) => {
      await service().create(point({ n: 1 }));
      const { status, json } = await put([{ ...point({ n: 2 }), id }]);
      expect([status, json.code]).toEqual([422, "keys-unusable"]);
      expect(json.failed).toMatchObject([{ path: "features[0].id" }]);
      expect(await propertiesOf()).toEqual([{ n: 1 }]);
    });

    test("4.4 PUT changes nothing if an element is not a feature", async () => {
      await service().create(point({ n: 1 }));
      expect((await put([point({ n: 2 }), null])).status).toBe(422);
      expect((await put([point({ n: 2 }), "Feature"], "n")).status).toBe(422);
      expect(await propertiesOf()).toEqual([{ n: 1 }]);
    });

    test("4.4 PUT does not delete the stored feature of a failed one", async () => {
      const ids = await service().create(
        point({ ref: "a", n: 1 }),
        point({ ref: "b", n: 2 }),
        point({ ref: "c", n: 3 }),
      );
      const { status, json } = await put([point({ ref: "a", n: 4 }), point({ ref: "b" }, [0, 91])], "ref");
      expect(status).toBe(200);
      expect(json).toMatchObject({
        success: [{ id: ids[0] }],
        failed: [{ id: ids[1], path: "features[1].geometry.coordinates[1]" }],
        deleted: 1,
      });
      expect(await propertiesOf()).toEqual([
        { ref: "a", n: 4 },
        { ref: "b", n: 2 },
      ]);
    });

    test("4.4 PUT changes nothing if all features fail", async () => {
      const ids = await service().create(point({ ref: "a" }), point({ ref: "b" }));
      const { status, json } = await put([point({ ref: "a" }, [181, 0])], "ref");
      expect([status, json.code, json.failed]).toMatchObject([422, "all-failed", [{ id: ids[0] }]]);
      expect(await service().all()).toHaveLength(2);
    });

    test("4.4 PUT fails all features with a duplicate key, and keeps their match", async () => {
      await service().create(point({ ref: "a", n: 1 }));
      const { json } = await put([point({ ref: "a", n: 2 }), point({ ref: "a", n: 3 }), point({ ref: "b" })], "ref");
      expect(json).toMatchObject({
        success: [{}],
        failed: [{ path: "features[0].properties.ref" }, { path: "features[1].properties.ref" }],
        deleted: 0,
      });
      expect(await propertiesOf()).toEqual([{ ref: "a", n: 1 }, { ref: "b" }]);
    });

    test("4.4 PUT updates the oldest feature with a duplicate key on the map, and deletes the others", async () => {
      const [oldest] = await service().create(point({ ref: "a", n: 1 }), point({ ref: "a", n: 2 }));
      const { json } = await put([point({ ref: "a", n: 3 })], "ref");
      expect(json).toMatchObject({ success: [{ id: oldest }], deleted: 1 });
      expect(await propertiesOf()).toEqual([{ ref: "a", n: 3 }]);
    });

    test("4.4 PUT applies all features or none with Prefer: handling=strict", async () => {
      await service().create(point({ ref: "a", n: 1 }));
      const features = [point({ ref: "b" }), point({ ref: "c" }, [181, 0])];
      const { status, json } = await put(features, "ref", { prefer: "handling=strict" });
      expect([status, json.code]).toEqual([422, "refused"]);
      expect(await propertiesOf()).toEqual([{ ref: "a", n: 1 }]);
    });

    test("4.4 PUT is applied only to the version in If-Match", async () => {
      const { etag } = (await service().features("GET")).headers;
      await service().create(point());
      expect((await put([], undefined, { "if-match": etag })).status).toBe(412);
      expect((await put([{}], undefined, { "if-match": etag })).status).toBe(412);
      expect(await service().all()).toHaveLength(1);
    });

    test("4.4 PUT is not applied if If-None-Match has the version, or * (RFC 9110, 13.1.2)", async () => {
      await service().create(point());
      const { etag } = (await service().features("GET")).headers;
      for (const known of ["*", etag, `"x", W/${etag}`]) {
        const { status, json } = await put([], undefined, { "if-none-match": known });
        expect([status, json.code]).toEqual([412, "precondition-failed"]);
      }
      expect(await service().all()).toHaveLength(1);
      expect((await put([], undefined, { "if-none-match": '"x"' })).json.deleted).toBe(1);
    });

    test("4.4 PUT returns no ETag, since the stored content differs from the request (RFC 9110, 9.3.4)", async () => {
      expect((await put([point()])).headers.etag).toBeUndefined();
    });

    test("4.4 PUT does not affect other maps", async () => {
      await service().create(point());
      const other = await service().newMap(service().ann);
      await service().send("PUT", `/api/v1/maps/${other}/features`, { body: { features: [] } });
      expect(await service().all()).toHaveLength(1);
    });

    test("4.4 the last of concurrent PUT requests determines the whole map", async () => {
      const versions = [1, 2, 3, 4].map((v) => [1, 2, 3].map((n) => point({ ref: `${v}-${n}`, v })));
      const answers = await Promise.all(versions.map((features) => put(features, "ref")));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const kept = await propertiesOf();
      expect(kept).toHaveLength(3);
      expect(new Set(kept.map(({ v }) => v)).size).toBe(1);
    });
  });
});
