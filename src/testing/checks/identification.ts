import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Confidence, Format } from "../../plugin/format.js";
import { type CheckSubject, capabilitiesOf, withTemporaryFolder } from "../check-subject.js";
import { Random } from "../random.js";
import { sampleBatch } from "../sample-layer.js";
import { writeFile } from "../write-file.js";

const headLength = 1 << 16;

const bytes = (...values: number[]) => Buffer.from(values);
const feature = '{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{}}';

/** Beginnings of files, and the extensions of formats that may say "yes" to them. */
const fileHeads: readonly { readonly name: string; readonly of: readonly string[]; readonly head: Buffer }[] = [
  { name: "one byte", of: [], head: bytes(0x7b) },
  { name: "zeros", of: [], head: Buffer.alloc(4096) },
  {
    name: "plain text",
    of: [],
    head: Buffer.from("It was a bright cold day in April,\nand the clocks were striking.\n"),
  },
  {
    name: "a PDF",
    of: ["pdf"],
    head: Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<</Type/Catalog>>\n", "latin1"),
  },
  {
    name: "a PNG",
    of: ["png"],
    head: bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52),
  },
  { name: "gzip", of: ["gz"], head: bytes(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b, 0xcb, 0xcf, 0x57, 0x48, 0x4a) },
  {
    name: "an ELF program",
    of: [],
    head: bytes(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0x3e, 0),
  },
  {
    name: "HTML",
    of: ["html", "htm"],
    head: Buffer.from("<!DOCTYPE html>\n<html><head><title>404</title></head><body>Not found</body></html>\n"),
  },
  {
    name: "SQLite without tables",
    of: ["gpkg", "sqlite", "db"],
    head: Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(84)]),
  },
  {
    name: "GeoJSON",
    of: ["geojson", "json"],
    head: Buffer.from(`{"type":"FeatureCollection","features":[\n${feature},\n${feature}\n]}\n`),
  },
  {
    name: "GeoJSON lines",
    of: ["geojsonl", "geojsons", "ndjson", "jsonl"],
    head: Buffer.from(`${feature}\n${feature}\n`),
  },
  {
    name: "other JSON",
    of: ["json"],
    head: Buffer.from('{"name":"geoferry","version":"1.0.0","dependencies":{"a":"1"}}\n'),
  },
  { name: "CSV", of: ["csv", "tsv", "txt"], head: Buffer.from("name,lon,lat\nVienna,16.37,48.21\nGraz,15.44,47.07\n") },
  {
    name: "GPX",
    of: ["gpx", "xml"],
    head: Buffer.from(
      '<?xml version="1.0"?>\n<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="1" lon="2"/></gpx>\n',
    ),
  },
  {
    name: "KML",
    of: ["kml", "xml"],
    head: Buffer.from(
      '<?xml version="1.0"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document><Placemark><name>x</name></Placemark></Document></kml>\n',
    ),
  },
  {
    name: "other XML",
    of: ["xml"],
    head: Buffer.from('<?xml version="1.0"?>\n<project name="x"><target name="y"/></project>\n'),
  },
  { name: "a .shp", of: ["shp", "shx"], head: shapefileHeader() },
  { name: "a .dbf", of: ["dbf", "shp"], head: dbfHeader() },
];

/** The header of a .shp with no record: file code 9994, version 1000, type 1 (ESRI Shapefile Description, table 1). */
function shapefileHeader(): Buffer {
  const head = Buffer.alloc(100);
  head.writeInt32BE(9994, 0);
  head.writeInt32BE(50, 24);
  head.writeInt32LE(1000, 28);
  head.writeInt32LE(1, 32);
  return head;
}

/** A dBASE III table of one field and no record. */
function dbfHeader(): Buffer {
  const head = Buffer.alloc(66);
  head.set([3, 124, 2, 29]);
  head.writeUInt16LE(65, 8);
  head.writeUInt16LE(11, 10);
  head.write("NAME", 32, "latin1");
  head.write("C", 43, "latin1");
  head[48] = 10;
  head[64] = 0x0d;
  head[65] = 0x1a;
  return head;
}

function identify(format: Format, head: Buffer, name: string): Confidence {
  let likeness: Confidence;
  try {
    likeness = format.identify(head, { name, size: head.length, findSibling: () => null });
  } catch (error) {
    assert.fail(`identify must never throw; for ${name} (${head.length} bytes) it threw ${String(error)}`);
  }
  assert.ok(["yes", "maybe", "no"].includes(likeness), `identify gave ${JSON.stringify(likeness)} for ${name}`);
  return likeness;
}

/** Whether `identify` knows its own and leaves others alone. */
export function checkIdentification(subject: CheckSubject): void {
  const { format, check, samples } = subject;
  if (!format.reader) return;

  check("identifies its own files", async () => {
    for (const { path } of samples) {
      const likeness = identify(format, readFileSync(path).subarray(0, headLength), path);
      assert.notEqual(likeness, "no", `${path} is a sample of the format and is not identified as one`);
    }
    if (!format.writer) return;
    const { geometryTypes } = capabilitiesOf(subject);
    await withTemporaryFolder(async (scratch) => {
      const batch = sampleBatch({ features: 30, types: geometryTypes, fieldTypes: ["text", "int32"] });
      for (const { path } of await writeFile(format, scratch.folder, batch, { options: subject.writerOptions })) {
        const head = readFileSync(path).subarray(0, headLength);
        assert.notEqual(identify(format, head, path), "no", "what the format's own writer wrote is not identified");
        // Wherever the head ends, there is an answer.
        for (let length = 0; length < Math.min(head.length, 400); length++) {
          identify(format, head.subarray(0, length), path);
        }
      }
    });
  });

  check("is not sure of what is something else", async () => {
    const random = new Random(subject.seed);
    const noise = Array.from({ length: 20 }, (_, n) => ({
      name: `noise ${n}`,
      of: [],
      head: Buffer.from(Array.from({ length: 1 + random.below(2000) }, () => random.below(256))),
    }));
    const empty = { name: "an empty file", of: [], head: Buffer.alloc(0) };
    for (const { name, of, head } of [empty, ...fileHeads, ...noise]) {
      const own = of.some((extension: string) => format.extensions.includes(extension));
      const likeness = identify(format, head, `file-${name.replace(/\W+/g, "-")}`);
      if (!own) assert.notEqual(likeness, "yes", `identify says "yes" to ${name}`);
    }
  });
}
