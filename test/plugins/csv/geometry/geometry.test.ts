import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { geometries, properties, readText } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const read = (
  content: string,
  options: Readonly<Record<string, string>> = {},
  more: Parameters<typeof readText>[3] = {},
) => readText(scratch, content, options, more);
const point = (...coordinates: number[]) => ({ type: "Point", coordinates });

describe("columns of coordinates", () => {
  test.each([
    ["lon,lat", [1, 2]],
    ["LAT,LON", [2, 1]],
    ["lat,lng", [2, 1]],
    ["Latitude,Longitude", [2, 1]],
    [" Long , Lat ", [1, 2]],
    ["x,y", [1, 2]],
    ["Easting,Northing", [1, 2]],
    ["stop_lat,stop_lon", [2, 1]],
    ["decimalLatitude,decimalLongitude", [2, 1]],
    ["latitude_deg,longitude_deg", [2, 1]],
    ["POINT_X,POINT_Y", [1, 2]],
    ["X-Coord,Y-Coord", [1, 2]],
  ])("columns of coordinates: %s", async (names, position) => {
    const result = await read(`${names},name\n1,2,a\n`);
    expect(geometries(result)).toEqual([point(...position)]);
    expect(properties(result)).toEqual([{ name: "a" }]);
    expect(result.layer).toMatchObject({ geometryTypes: ["Point"], featureCount: 1, crs: null });
  });

  test("columns named longitude and latitude take precedence over x and y", async () =>
    expect(geometries(await read("x,y,lon,lat\n1,2,3,4\n"))).toEqual([point(3, 4)]));

  test("columns of words are not coordinates, regardless of their names", async () => {
    const result = await read("x,y\nleft,right\n");
    expect(geometries(result)).toEqual([null]);
    expect(properties(result)).toEqual([{ x: "left", y: "right" }]);
  });

  test("rows without coordinates have no geometry; half a coordinate gets a notice; words are rejected", async () => {
    const result = await read("lon,lat,n\n,,1\n1,,2\nNULL,NA,3\n4,abc,4\n0,0,5\n1,2,6\n");
    expect(result.features.map((f) => [f.properties.n, f.geometry])).toEqual([
      [1, null],
      [2, null],
      [3, null],
      [5, point(0, 0)],
      [6, point(1, 2)],
    ]);
    expect(result.recording.rejects).toMatchObject([{ code: "coordinate-invalid", place: { record: 4, line: 5 } }]);
    expect(result.recording.notices).toMatchObject([{ code: "coordinate-missing", count: 2 }]);
    expect(result.layer.featureCount).toBeNull();
  });

  test("a column z next to x and y is the height, elsewhere an attribute", async () => {
    expect(geometries(await read("lon,lat,z\n1,2,3.5\n4,5,\n"))).toEqual([point(1, 2, 3.5), point(4, 5)]);
    expect(geometries(await read("lon,lat,n,z\n1,2,0,3\n"))).toEqual([point(1, 2)]);
    expect(geometries(await read("lon,lat,elevation\n1,2,3\n"))).toEqual([point(1, 2)]);
  });

  test("options name the coordinate columns, ignoring case", async () => {
    const options = { x: "ost", y: "NORD", z: "h" };
    const result = await read("lon,lat,Ost,Nord,H\n1,2,3,4,5\n", options);
    expect(geometries(result)).toEqual([point(3, 4, 5)]);
    expect(properties(result)).toEqual([{ lon: 1, lat: 2 }]);
    expect(properties(await read("lon,lat\n1,2\n", { keepGeometryColumns: "yes" }))).toEqual([{ lon: 1, lat: 2 }]);
    expect(geometries(await read("lon,lat\n1,2\n", { geometry: "none" }))).toEqual([null]);
    await expect(read("lon,lat\n1,2\n", { x: "lon" })).rejects.toThrow(/give y as well/);
    await expect(read("lon,lat\n1,2\n", { x: "lon", y: "breite" })).rejects.toMatchObject({ code: "field-missing" });
  });

  test("coordinate columns can be in degrees, minutes and seconds", async () => {
    const result = await read(
      `lat,lon,n\n23°N,26°W,1\n"40° 26′ 46″ N","79° 58′ 56″ W",2\n40° 11′,40° 11' 15",3\n10 E,20 N,4\n`,
    );
    expect(geometries(result)).toEqual([
      point(-26, 23),
      point(-(79 + 58 / 60 + 56 / 3600), 40 + 26 / 60 + 46 / 3600),
      point(40 + 11 / 60 + 15 / 3600, 40 + 11 / 60),
    ]);
    // East stands in the column of the latitude.
    expect(result.recording.rejects).toMatchObject([{ place: { record: 4 } }]);
  });
});

describe("a column of coordinate pairs", () => {
  test.each([
    ["location", '"48.85, 2.35"', [2.35, 48.85]],
    [
      "Location Coordinates",
      '"37°36\'37.8""N 121°2\'17.9""W"',
      [-(121 + 2 / 60 + 17.9 / 3600), 37 + 36 / 60 + 37.8 / 3600],
    ],
    ["latlon", '"(48.85, 2.35)"', [2.35, 48.85]],
    ["position", "48.85 2.35", [2.35, 48.85]],
    ["lonlat", '"2.35, 48.85"', [2.35, 48.85]],
    ["geo_point_2d", '"48.85,2.35"', [2.35, 48.85]],
    ["coordinates", '"N 40 26.5, W 79 58"', [-(79 + 58 / 60), 40 + 26.5 / 60]],
    ["coordinates", '"2.35 E, 48.85 N"', [2.35, 48.85]],
  ])("a column of coordinate pairs, %s: %s", async (name, cell, [x, y]) => {
    const result = await read(`${name},n\n${cell},1\n,2\n`);
    const [first, second] = geometries(result) as [{ coordinates: number[] }, null];
    expect(first.coordinates[0]).toBeCloseTo(x!, 12);
    expect(first.coordinates[1]).toBeCloseTo(y!, 12);
    expect(second).toBeNull();
    expect(properties(result)).toEqual([{ n: 1 }, { n: 2 }]);
  });

  test("a location in words is an attribute", async () =>
    expect(properties(await read('location,n\n"Paris, France",1\n'))).toEqual([{ location: "Paris, France", n: 1 }]));

  test("a pair with a latitude beyond 90 is rejected", async () => {
    const rows = '"1, 2"\n'.repeat(101);
    const result = await read(`latlon\n${rows}"91, 2"\n`);
    expect(result.features.length).toBe(101);
    expect(result.recording.rejects).toMatchObject([{ code: "coordinate-invalid", place: { record: 102 } }]);
  });
});

describe("one column of geometry", () => {
  test.each([
    ["WKT", "POINT (1 2)"],
    ["EWKT", "SRID=4326;POINT(1 2)"],
    ["hexadecimal WKB", "0101000000000000000000F03F0000000000000040"],
    ["hexadecimal EWKB", "0101000020E6100000000000000000F03F0000000000000040"],
    ["bytea of PostgreSQL", "\\x0101000000000000000000F03F0000000000000040"],
    ["GeoJSON", '"{""type"":""Point"",""coordinates"":[1,2]}"'],
    [
      "a GeoJSON Feature",
      '"{""type"":""Feature"",""properties"":{},""geometry"":{""type"":""Point"",""coordinates"":[1,2]}}"',
    ],
  ])("a geometry column: %s", async (_, cell) => {
    for (const name of ["wkt", "geom", "Geometry", "the_geom", "wkb_geometry", "geo_shape"]) {
      const result = await read(`id,${name}\n1,${cell}\n2,\n`);
      expect(geometries(result)).toEqual([point(1, 2), null]);
      expect(properties(result)).toEqual([{ id: 1 }, { id: 2 }]);
    }
  });

  test("the SRID is the CRS, and rows with another or no SRID are rejected", async () => {
    const wkb = "0101000000000000000000F03F0000000000000040";
    const json = '"{""type"":""Point"",""coordinates"":[1,2]}"';
    const rows = ["SRID=25832;POINT(500000 5000000)", "SRID=4326;POINT(1 2)", "POINT(500001 5000000)", wkb, json];
    const result = await read(`geom\n${rows.join("\n")}\nSRID=0;POINT(3 4)\n`);
    expect(result.layer.crs?.id).toBe("EPSG:25832");
    expect(geometries(result)).toEqual([point(500000, 5000000)]);
    expect(result.recording.rejects).toMatchObject([
      { code: "geometry-malformed", place: { record: 2 } },
      { code: "srid-missing", place: { record: 3 }, reason: expect.stringMatching(/25832.*--in srid=25832/) },
      { code: "srid-missing", place: { record: 4 } },
      { code: "srid-missing", place: { record: 5 } },
      { code: "geometry-malformed", place: { record: 6 } },
    ]);
  });

  test("geometries without positions, and GeoJSON beside WGS 84, need no SRID", async () => {
    const rows = ["SRID=4326;POINT(5 6)", "POINT EMPTY", "NULL", '"{""type"":""Point"",""coordinates"":[1,2]}"'];
    const result = await read(`geom,n\n${rows.map((row, n) => `${row},${n}\n`).join("")}`);
    expect(properties(result)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }]);
    expect(geometries(result)[3]).toEqual(point(1, 2));
    expect(result.recording.rejects).toEqual([]);
  });

  test("an SRID option applies to rows without an SRID", async () => {
    const rows = "geom\nPOINT(500001 5000000)\nSRID=25832;POINT(500000 5000000)\nSRID=4326;POINT(1 2)\n";
    const result = await read(rows, { srid: "25832" });
    expect(result.layer.crs?.id).toBe("EPSG:25832");
    expect(geometries(result)).toEqual([point(500001, 5000000), point(500000, 5000000)]);
    expect(result.recording.rejects).toMatchObject([{ code: "geometry-malformed", place: { record: 3 } }]);
  });

  test("damaged geometries are rejected, words for null are null, open rings are closed", async () => {
    const result = await read('wkt,n\n"POLYGON((0 0,1 0,1 1))",1\nPOINT(1,2\nNULL,3\nPOINT EMPTY,4\nPOINT (1 2),5\n');
    expect(result.features.map((f) => f.properties.n)).toEqual([1, 3, 4, 5]);
    expect(result.features[0]!.geometry).toEqual({
      type: "Polygon",
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    });
    expect(result.recording.rejects).toMatchObject([{ code: "geometry-malformed", place: { record: 2 } }]);
    expect(result.recording.notices).toMatchObject([{ code: "ring-closed", count: 1 }]);
  });

  test("WKT takes precedence over coordinate columns, which stay attributes", async () => {
    const result = await read('lon,lat,wkt\n9,9,"LINESTRING (0 0,1 1)"\n');
    expect(geometries(result)).toEqual([
      {
        type: "LineString",
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      },
    ]);
    expect(properties(result)).toEqual([{ lon: 9, lat: 9 }]);
  });

  test("an option names the geometry column", async () =>
    expect(geometries(await read("where,n\nPOINT (1 2),1\n", { geometry: "where" }))).toEqual([point(1, 2)]));
});

test("a .prj declares the CRS of coordinates, and none for a table without geometry", async () => {
  const prj =
    'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]';
  writeFileSync(scratch.path("p.prj"), prj);
  expect((await read("lon,lat\n1,2\n", {}, { name: "p.csv" })).layer.crs).not.toBeNull();
  expect((await read("a,b\n1,2\n", {}, { name: "p.csv" })).layer.crs).toBeNull();
  writeFileSync(scratch.path("bad.prj"), "nonsense");
  const bad = await read("lon,lat\n1,2\n", {}, { name: "bad.csv" });
  expect(bad.layer.crs).toBeNull();
  expect(bad.recording.notices).toMatchObject([{ code: "crs-unreadable" }]);
});

describe("a column of pairs", () => {
  test("a column of pairs gets a notice about its axis order, unless its name states it", async () => {
    const unsaid = await readText(scratch, 'n,coordinates\na,"51.5, 7.5"\n');
    expect(geometries(unsaid)).toEqual([{ type: "Point", coordinates: [7.5, 51.5] }]);
    expect(unsaid.recording.notices.filter((n) => n.code.startsWith("pair"))).toMatchObject([
      { code: "pair-order", field: "coordinates", example: expect.stringContaining('"latitude, longitude"') },
    ]);
    const said = await readText(scratch, 'n,lat_lon\na,"51.5, 7.5"\n');
    expect(said.recording.notices.filter((n) => n.code.startsWith("pair"))).toEqual([]);
  });

  test.each([
    ["-122.4, 37.8", "lon_lat"],
    ["500000, 5700000", "columns x and y"],
  ])("an out-of-range pair such as %s is rejected with a remedy", async (pair, remedy) => {
    const { features, recording } = await readText(scratch, `n,coordinates\na,"${pair}"\n`);
    expect(features[0]).toMatchObject({ geometry: null, properties: { coordinates: pair } });
    expect(recording.notices.filter((n) => n.code.startsWith("pair"))).toMatchObject([
      { code: "pair-left-out", field: "coordinates", example: expect.stringContaining(remedy) },
    ]);
  });
});
