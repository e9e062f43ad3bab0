/** Layers with geometries through drivers of GDAL that write tables only. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { geoferry } from "../../../support/command.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { hasGdal, ogr2ogr } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const square = [
  [
    [0, 0],
    [4, 0],
    [4, 3],
    [0, 0],
  ],
];
const feature = (geometry: object | null, properties: object) => ({ type: "Feature", geometry, properties });
const collection = (...features: readonly object[]) => JSON.stringify({ type: "FeatureCollection", features });

function input(name: string, text: string): string {
  const path = join(scratch.folder, name);
  writeFileSync(path, text);
  return path;
}

/** Names the driver of GDAL, since spreadsheets have formats of their own. */
function convertWithGdal([source, output, ...flags]: readonly [string, string, ...string[]]) {
  const driver = output.endsWith(".ods") ? "gdal:ODS" : "gdal:XLSX";
  return geoferry(["convert", source, output, "--to", driver, ...flags]);
}

/** The rows of a workbook, as ogr2ogr reads them. */
function rowsOf(workbook: string): string[] {
  const csv = `${workbook}.csv`;
  ogr2ogr("-f", "CSV", csv, workbook, "--config", "OGR_XLSX_HEADERS", "FORCE", "--config", "OGR_ODS_HEADERS", "FORCE");
  return readFileSync(csv, "utf8").trimEnd().split("\n");
}

const ring = (n: number) => [Array.from({ length: n }, (_, i) => [i / 7e3, (i % 7) / 7e3]).concat([[0, 0]])];

describe.skipIf(!hasGdal)("a layer with geometries becomes a table", () => {
  test.each([["xlsx"], ["ods"]])("%s: points are in coordinate columns, and no row is rejected", (extension) => {
    const source = input(
      `points-${extension}.geojson`,
      collection(feature({ type: "Point", coordinates: [8.25, 47.5] }, { name: "a" }), feature(null, { name: "b" })),
    );
    const output = join(scratch.folder, `points.${extension}`);
    const { status, stderr } = convertWithGdal([source, output]);
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining("geometry-as-columns") });
    expect(stderr).not.toContain("reject");
    expect(rowsOf(output)).toEqual(["lon,lat,name", "8.25,47.5,a", ",,b"]);
  });

  test("polygons are in a column of WKT", () => {
    const source = input(
      "squares.geojson",
      collection(feature({ type: "Polygon", coordinates: square }, { wkt: "taken" })),
    );
    const output = join(scratch.folder, "squares.xlsx");
    expect(convertWithGdal([source, output])).toMatchObject({ status: 0 });
    expect(rowsOf(output)).toEqual(["wkt_1,wkt", '"POLYGON ((0 0,4 0,4 3,0 0))",taken']);
  });

  test("projected coordinates are written to x and y, and their CRS is a loss", () => {
    const source = input("one.geojson", collection(feature({ type: "Point", coordinates: [9, 48] }, { name: "a" })));
    const output = join(scratch.folder, "utm.xlsx");
    const { status, stderr } = convertWithGdal([source, output, "--target-crs", "EPSG:25832"]);
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining("crs-undeclared") });
    // The central meridian of zone 32 is x = 500,000.
    const [header, row = ""] = rowsOf(output);
    expect(header).toBe("x,y,name");
    expect(Number(row.replaceAll('"', "").split(",")[0])).toBeCloseTo(500_000, 3);
  });

  test("the geometry option omits geometries or selects the type of columns", () => {
    const source = input("choice.geojson", collection(feature({ type: "Point", coordinates: [9, 48] }, { name: "a" })));
    const rows = (choice: string) => {
      const output = join(scratch.folder, `${choice}.xlsx`);
      expect(convertWithGdal([source, output, "--out", `geometry=${choice}`])).toMatchObject({ status: 0 });
      return rowsOf(output);
    };
    // GDAL ends the header of a CSV of one column with a comma.
    expect(rows("none")).toEqual(["name,", "a"]);
    expect(rows("wkt")).toEqual(["wkt,name", "POINT (9 48),a"]);
  });

  test("a WKT that exceeds a cell of Excel is a loss, and its row stays", () => {
    const source = input(
      "long.geojson",
      collection(feature({ type: "Polygon", coordinates: ring(4000) }, { name: "a" })),
    );
    const output = join(scratch.folder, "long.xlsx");
    const { status, stderr } = convertWithGdal([source, output]);
    expect({ status, stderr }).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("more than the 32767 of a cell"),
    });
    expect(rowsOf(output)).toEqual(["wkt,name", ",a"]);
  });

  test("--strict does not take columns for geometries", () => {
    const source = input("strict.geojson", collection(feature({ type: "Point", coordinates: [9, 48] }, { name: "a" })));
    const { status } = convertWithGdal([source, join(scratch.folder, "strict.xlsx"), "--strict"]);
    expect(status).toBe(4);
  });

  // Days from 1899-12-30, in which Excel counts 1900-02-29: the OOXML standard has no dates before 1900.
  const dates = "id,d,t\n1,1872-03-01,1900-02-28T23:30:00Z\n2,1900-02-28,1900-03-01T00:00:00Z\n3,1900-03-01,\n";

  test("dates before March 1900 are null in a workbook of Excel, and their number is a loss", () => {
    const source = input("old.csv", dates);
    const output = join(scratch.folder, "old.xlsx");
    const { status, stderr } = convertWithGdal([source, output]);
    expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.stringContaining("date-before-1900") });
    expect(rowsOf(output)).toEqual(["id,d,t", '"1",,', '"2",,1900/03/01 00:00:00', '"3",1900/03/01,']);
    expect(stderr).toMatch(/lost date-before-1900 of d \(2 times\)/);
    expect(stderr).toContain("--cast d=text");
  });

  test("the advised cast keeps them as text, and OpenDocument keeps them as dates", () => {
    const source = input("kept.csv", dates);
    const output = join(scratch.folder, "kept.xlsx");
    const { stderr } = convertWithGdal([source, output, "--cast", "d=text", "--cast", "t=text"]);
    expect(stderr).not.toContain("date-before-1900");
    expect(rowsOf(output)[1]).toBe('"1",1872-03-01,1900-02-28T23:30:00Z');
    const open = join(scratch.folder, "kept.ods");
    expect(convertWithGdal([source, open]).stderr).not.toContain("date-before-1900");
    expect(rowsOf(open)[1]).toBe('"1",1872/03/01,1900/02/28 23:30:00');
  });
});
