import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import gdal from "../../../../plugins/gdal/index.js";
import { Batch } from "../../../../src/model/batch.js";
import type { FieldType } from "../../../../src/model/field.js";
import { type Format, GeoferryError } from "../../../../src/plugin/index.js";
import {
  assertOnlyReportedChanges,
  edgeFieldNames,
  readFile,
  sampleBatch,
  writeFile,
} from "../../../../src/testing/index.js";
import { convertFile } from "../../../support/host.js";
import { TemporaryFolder } from "../../../support/read-layers.js";
import { hasGdal } from "../support.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** Servers, memory, folders and images: nothing that a file of rows could be made of. */
const isNoFile =
  /^(PostgreSQL|MySQL|MSSQLSpatial|Elasticsearch|Carto|AmigoCloud|NGW|MongoDBv3|OCI|HANA|Memory|PGDUMP|ODBC|OpenFileGDB|FileGDB|MVT|PDF|netCDF|BAG)$/;

/** Types whose values change in ways that neither counts nor sums tell. */
const unseen: Readonly<Record<string, readonly FieldType[]>> = {
  // Days before 1900, of which spreadsheets know nothing.
  XLSX: ["date", "datetime"],
  // The least numbers that there are.
  ODS: ["double"],
  // All is text there, dates and truth in other words.
  CSV: ["date", "datetime", "boolean"],
  // Always fifteen decimals.
  "ESRI Shapefile": ["double"],
};

/** Layers that are of one file here and of several there. */
const split = new Set(["GPX"]);

function formats(): readonly Format[] {
  const [family] = gdal as readonly Format[];
  return family!
    .family!.list()
    .formats.filter(({ reader, writer, id }) => reader && writer && !isNoFile.test(id.slice(5)));
}

const nameOf = ({ id }: Format): string => id.slice("gdal:".length);

/** The batches with the fields that were written: drivers have some of their own. */
function withFields(batches: readonly Batch[], names: ReadonlySet<string>): Batch[] {
  return batches.map((batch) => {
    const data = batch.toData();
    const kept = data.fields.flatMap(({ name }, f) => (names.has(name) ? [f] : []));
    return new Batch({
      ...data,
      fields: kept.map((f) => data.fields[f]!),
      columns: kept.map((f) => data.columns[f]!),
    });
  });
}

describe.skipIf(!hasGdal)("losses of GDAL's drivers are reported", () => {
  test.each(hasGdal ? formats().map((format) => [nameOf(format), format] as const) : [])(
    "losses of %s are reported",
    async (name, format) => {
      const accepts = format.writer!.capabilities({});
      const type = accepts.geometryTypes.includes("LineString") ? "LineString" : accepts.geometryTypes[0];
      const batch = sampleBatch({
        features: 24,
        types: type ? [type] : [],
        dimensions: accepts.z ? "some-z" : "xy",
        nulls: accepts.nullGeometry && type !== undefined,
        fieldTypes: accepts.fieldTypes.filter((each) => !unseen[name]?.includes(each)),
        ids: "int32",
        fields: edgeFieldNames.map((edge, n) => ({ name: edge, type: "text" as const, values: [`value ${n}`, null] })),
      });
      const extensions = format.extensions.length > 0 ? format.extensions : ["out"];
      const options: Readonly<Record<string, string>> = name === "FlatGeobuf" ? { SPATIAL_INDEX: "no" } : {};
      let written: Awaited<ReturnType<typeof writeFile>>;
      try {
        written = await writeFile({ ...format, extensions }, scratch.folder, batch, { name: "all", options });
      } catch (error) {
        // A driver that does not take it says so.
        expect(error).toBeInstanceOf(GeoferryError);
        return;
      }
      const [file] = written;
      const codes = file!.losses.map(({ code }) => code);
      const reading = readFile(format, file!.path);
      if (codes.includes("output-unreadable")) {
        await expect(reading).rejects.toBeInstanceOf(GeoferryError);
        return;
      }
      const read = await reading;
      if (split.has(name)) return;
      expect(read.length).toBe(1);
      const names = new Set(file!.input.flatMap(({ fields }) => fields.map((field) => field.name)));
      const ids = typeof accepts.ids === "object" ? "given" : accepts.ids === true;
      const how = { tolerance: 1e-6, singleIsMulti: true, absentIsNull: true, ids, keepsTypes: [] } as const;
      assertOnlyReportedChanges(file!.losses, file!.input, withFields(read[0]!.batches, names), how);
    },
  );
});

test.skipIf(!hasGdal)("a sum of integers beyond 32 bits is no change", async () => {
  const path = scratch.path("large.csv");
  writeFileSync(path, "iso,pop,lat,lon\nCN,1400000000,39,116\nIN,1410000000,28,77\n");
  const { losses } = await convertFile(path, scratch.path("large.fgb"), { to: "gdal:FlatGeobuf" });
  expect(losses).toEqual([]);
});
