/** Map Features Service Interface, sections 1, 2 and 9: purpose, resources and versions. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { describeOnEveryStore, point } from "../service-fixture.js";

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;

describe("the service", () => {
  describeOnEveryStore((service) => {
    test("1 each map has its own features", async () => {
      const { ann, bob } = service();
      const other = await service().newMap(bob);
      await service().create(point({ title: "here" }));
      const path = `/api/v1/maps/${other}/features`;
      await service().send("POST", path, { as: bob, body: { features: [point({ title: "there" })] } });
      expect(await service().all()).toMatchObject([{ properties: { title: "here" } }]);
      const there = await service().send("GET", path, { as: ann });
      expect(there.json.features).toMatchObject([{ properties: { title: "there" } }]);
    });

    test("1 clients read, create, synchronize, update and delete the features of a map", async () => {
      const [id] = await service().create(point({ n: 1 }), point({ n: 2 }));
      const changed = await service().features("PATCH", { features: [{ id, properties: { n: 3 } }] });
      expect(changed.status).toBe(200);
      expect((await service().all()).map(({ properties }) => properties)).toEqual([{ n: 3 }, { n: 2 }]);
      const synchronized = await service().features("PUT", { features: [{ ...point({ n: 4 }), id }] });
      expect(synchronized.json).toMatchObject({ success: [{ id }], failed: [], deleted: 1 });
      const deleted = await service().features("DELETE", { features: [{ id }] });
      expect(deleted.json).toMatchObject({ success: [{ id }] });
      expect(await service().all()).toEqual([]);
    });

    test("1 feature collections are returned as GeoJSON", async () => {
      const { headers, json } = await service().features("GET");
      expect(headers["content-type"]).toBe("application/geo+json");
      expect(json).toEqual({ type: "FeatureCollection", features: [] });
    });

    test("1 writes are answered with JSON", async () => {
      const { headers } = await service().features("POST", { features: [point()] });
      expect(headers["content-type"]).toMatch(/^application\/json\b/);
    });

    test("2.1 a map is found by its MAP_ID in either letter case", async () => {
      await service().create(point());
      const answer = await service().send("GET", `/api/v1/maps/${service().map.toUpperCase()}/features`);
      expect(answer.json.features).toHaveLength(1);
    });

    test("2.1 an unknown MAP_ID returns 404", async () => {
      const answer = await service().send("GET", `/api/v1/maps/${randomUUID()}/features`);
      expect(answer.status).toBe(404);
    });

    test("2.2 each feature has id, type, geometry and properties", async () => {
      await service().create(point({ title: "Bern", description: "a town" }, [7.45, 46.95]));
      const [feature] = await service().all();
      expect(Object.keys(feature!)).toEqual(["type", "id", "geometry", "properties"]);
      expect(feature).toEqual({
        type: "Feature",
        id: expect.stringMatching(uuid),
        geometry: { type: "Point", coordinates: [7.45, 46.95] },
        properties: { title: "Bern", description: "a town" },
      });
    });

    test("2.2 type must be Feature", async () => {
      const { json } = await service().features("POST", { features: [point(), { ...point(), type: "Point" }] });
      expect(json.failed).toMatchObject([{ path: "features[1].type" }]);
    });

    test("2.2 geometry must be a geometry or null", async () => {
      const { geometry: _, ...without } = point();
      const features = [{ ...point(), geometry: null }, without, { ...point(), geometry: "POINT (1 2)" }];
      const { json } = await service().features("POST", { features });
      expect(json.failed).toMatchObject([{ path: "features[1].geometry" }, { path: "features[2].geometry" }]);
      expect(await service().all()).toMatchObject([{ geometry: null }]);
    });

    test("2.2 properties must be an object", async () => {
      const { properties: _, ...without } = point();
      const features = [point(), without, { ...without, properties: null }, { ...without, properties: [1] }];
      const { json } = await service().features("POST", { features });
      expect(json.failed).toMatchObject([1, 2, 3].map((i) => ({ path: `features[${i}].properties` })));
    });

    test("2.2 a point is longitude, then latitude", async () => {
      const { json } = await service().features("POST", {
        features: [point({}, [179.5, -89.5]), point({}, [-89.5, 179.5])],
      });
      expect(json).toMatchObject({ success: [{}], failed: [{ path: "features[1].geometry.coordinates[1]" }] });
    });

    test("2.2 any properties are stored in their order", async () => {
      const properties = {
        title: 'é 🗺 " \\ \n',
        z: null,
        a: [1, { b: -0.5e-7 }],
        "": true,
        id: "x",
        n: 9007199254740991,
      };
      await service().create(point(properties));
      const [feature] = await service().all();
      expect(JSON.stringify(feature!.properties)).toBe(JSON.stringify(properties));
    });

    test("2.2 properties with integer names come first, and the last of duplicate names counts", async () => {
      const features = `[{"type":"Feature","geometry":null,"properties":{"b":1,"2024":2,"b":3,"7":-0,"a":1E2}}]`;
      const body = Buffer.from(`{"features":${features}}`);
      expect((await service().features("POST", body)).status).toBe(201);
      expect((await service().features("GET")).text).toContain('"properties":{"7":0,"2024":2,"b":3,"a":100}');
    });

    test("2.2 all geometries of RFC 7946 are stored, with heights, and empty ones", async () => {
      const square = [
        [0, 0],
        [1, 0],
        [1, 1],
        [0, 0],
      ];
      const geometries = [
        { type: "Point", coordinates: [1, 2, 3.5] },
        { type: "MultiPoint", coordinates: [[1, 2]] },
        { type: "LineString", coordinates: square },
        { type: "MultiLineString", coordinates: [square, square] },
        { type: "Polygon", coordinates: [square] },
        { type: "MultiPolygon", coordinates: [[square], [square]] },
        { type: "Polygon", coordinates: [] },
        { type: "Point", coordinates: [] },
        { type: "GeometryCollection", geometries: [{ type: "Point", coordinates: [1, 2] }] },
        { type: "GeometryCollection", geometries: [{ type: "GeometryCollection", geometries: [] }] },
      ];
      await service().create(...geometries.map((geometry) => ({ ...point(), geometry })));
      expect((await service().all()).map(({ geometry }) => geometry)).toEqual(geometries);
    });

    test("2.2 foreign members of GeoJSON are not stored", async () => {
      const geometry = { bbox: [1, 2, 1, 2], type: "Point", coordinates: [1, 2], crs: "EPSG:4326" };
      await service().create({ ...point(), geometry, bbox: [1, 2, 1, 2], style: "red" });
      const [feature] = await service().all();
      expect(Object.keys(feature!)).toEqual(["type", "id", "geometry", "properties"]);
      expect(feature!.geometry).toEqual({ type: "Point", coordinates: [1, 2] });
    });

    test("2.3 the type of a request, if present, must be FeatureCollection", async () => {
      const features = [point()];
      expect((await service().features("POST", { features })).status).toBe(201);
      expect((await service().features("POST", { type: "FeatureCollection", features })).status).toBe(201);
      expect((await service().features("POST", { type: "Feature", features })).status).toBe(422);
    });

    test.each([["none"], [7], [{}], [null]])("2.3 features must be an array, not %j", async (features) => {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        expect((await service().features(method, features === "none" ? {} : { features })).status).toBe(422);
      }
    });

    test.each([[7], [""], [["ref"]]])("2.3 remoteField must be the name of a property, not %j", async (name) => {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        expect((await service().features(method, { remoteField: name, features: [] })).status).toBe(422);
      }
    });

    test("2.4 a write reports success or failure of each feature", async () => {
      const { status, json } = await service().features("POST", { features: [point(), { type: "Feature" }] });
      expect(status).toBe(200);
      expect(json).toEqual({
        success: [{ id: expect.stringMatching(uuid), message: "Feature successfully created." }],
        failed: [{ id: expect.stringMatching(uuid), path: "features[1].geometry", message: expect.any(String) }],
      });
    });

    test("9 the path contains the version", async () => {
      expect((await service().send("GET", service().path.replace("/v1/", "/v2/"))).status).toBe(404);
      expect((await service().send("GET", service().path)).status).toBe(200);
    });
  });
});
