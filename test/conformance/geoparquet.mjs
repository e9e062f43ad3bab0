/**
 * Holds GeoParquet files of geoferry against pyarrow and geopandas, and theirs against geoferry.
 *
 *   node test/conformance/geoparquet.mjs [PYTHON [ROOT]]
 *
 * PYTHON is a Python with pyarrow (python3), ROOT a folder before the paths that it sees, if it runs in a container.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import zlib from "node:zlib";

const [python = "python3", root = ""] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), "geoparquet-"));
const command = join(import.meta.dirname, "../../dist/src/cli/main.js");
const script = join(scratch, "geoparquet.py");
copyFileSync(join(import.meta.dirname, "geoparquet.py"), script);
const limit = { maxBuffer: 2 ** 29, encoding: "utf8" };
const geoferry = (...line) =>
  execFileSync(process.execPath, [command, ...line], { ...limit, stdio: ["ignore", "pipe", "pipe"] });
const judge = (...line) => execFileSync(python, [script, ...line], limit);

if (spawnSync(python, ["-c", "import pyarrow"]).status !== 0) {
  console.error(`${python} has no pyarrow; name a Python that has`);
  process.exit(2);
}

const features = [0, 1, 2].map((row) => ({
  type: "Feature",
  properties: {
    flag: [true, null, false][row],
    small: [-5, 2 ** 31 - 1, null][row],
    large: [2 ** 53 - 1, null, -1][row],
    real: [0.1, -1e300, null][row],
    text: ["ä😀", null, ""][row],
    day: ["1969-12-31", "2024-02-29", null][row],
    moment: ["2024-02-29T23:59:59.123456Z", null, "1900-01-01T00:00:00Z"][row],
    clock: ["00:00:01.5", null, "23:59:59"][row],
    nested: [{ a: [1] }, null, [2]][row],
  },
  geometry: [
    { type: "Point", coordinates: [1.1, 2.2] },
    null,
    {
      type: "LineString",
      coordinates: [
        [3, 4],
        [9, 8],
      ],
    },
  ][row],
}));
writeFileSync(join(scratch, "in.geojson"), JSON.stringify({ type: "FeatureCollection", features }));

function checkWritten(name, ...options) {
  const path = join(scratch, `${name}.parquet`);
  geoferry("convert", join(scratch, "in.geojson"), path, ...options);
  const seen = JSON.parse(judge("view", root + path));
  const { bbox: _, geometry: __, ...types } = seen.types;
  assert.deepEqual(types, {
    flag: "bool",
    small: "int32",
    large: "int64",
    real: "double",
    text: "string",
    day: "date32[day]",
    moment: "timestamp[us, tz=UTC]",
    clock: "time64[us]",
    nested: /json/.test(seen.types.nested) ? seen.types.nested : "string",
  });
  const rows = seen.rows.map(({ geometry, bbox, nested, moment, clock, ...row }) => ({
    ...row,
    nested: nested && JSON.parse(nested),
  }));
  assert.deepEqual(
    rows,
    features.map(({ properties: { moment, clock, ...rest } }) => ({ ...rest })),
  );
  assert.deepEqual(
    seen.rows.map(({ moment }) => moment),
    ["2024-02-29 23:59:59.123456", null, "1900-01-01 00:00:00"],
  );
  assert.deepEqual(
    seen.rows.map(({ clock }) => clock),
    ["00:00:01.500000", null, "23:59:59"],
  );
  assert.deepEqual(seen.statistics.small, [-5, 2 ** 31 - 1, 1]);
  assert.deepEqual(seen.statistics.day, ["1969-12-31", "2024-02-29", 1]);
  console.log(`${name}: as meant${seen.bounds ? `, EPSG:${seen.epsg}, ${seen.bounds.join(" ")}` : ""}`);
  return seen;
}

try {
  const plain = checkWritten("plain");
  if (plain.bounds) assert.deepEqual(plain.bounds, [1.1, 2.2, 9, 8]);
  const zstd = zlib.zstdCompress ? ["zstd"] : [];
  for (const codec of ["snappy", "gzip", "brotli", "none", ...zstd])
    checkWritten(codec, "--out", `compression=${codec}`);
  checkWritten("logical", "--out", "geometry-type=parquet");
  checkWritten("without-bbox", "--out", "bbox=no");
  const utm = checkWritten("utm", "--target-crs", "EPSG:25831");
  if (utm.bounds) assert.equal(utm.epsg, 25831);

  judge("write", root + scratch);
  const expected = JSON.parse(readFileSync(join(scratch, "expected.json"), "utf8"));
  for (const name of expected.files) {
    const text = geoferry("convert", join(scratch, `${name}.parquet`), "-", "--to", "geojsonseq", "--no-reproject");
    const found = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const isRow = ({ properties }, row) => assert.deepEqual(properties, expected.rows[row], `${name}, row ${row}`);
    assert.equal(found.length, expected.rows.length);
    found.forEach(isRow);
    assert.deepEqual(found[2999].geometry, { type: "Point", coordinates: [299.9, -29.99] });
    assert.equal(found[11].geometry, null);
    console.log(`${name} of pyarrow: equal`);
  }
} finally {
  rmSync(scratch, { recursive: true });
}
