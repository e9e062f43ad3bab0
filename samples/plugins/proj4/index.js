/**
 * Reprojects a file with proj4, between a reader and a writer of geoferry:
 *
 *   node index.js INPUT OUTPUT SOURCE_CRS TARGET_CRS
 *
 * geoferry's own reprojection chooses the operation for each position and states its accuracy; proj4 knows one way, by
 * the parameters of a PROJ string.
 */
import { open, write } from "geoferry";
import proj4 from "proj4";

const [input, output, from, to] = process.argv.slice(2);
if (to === undefined) throw new Error("usage: node index.js INPUT OUTPUT SOURCE_CRS TARGET_CRS");
const { forward } = proj4(from, to);

const move = (coordinates) =>
  typeof coordinates[0] === "number"
    ? [...forward(coordinates.slice(0, 2)), ...coordinates.slice(2)]
    : coordinates.map(move);

const moveGeometry = (geometry) =>
  geometry.type === "GeometryCollection"
    ? { ...geometry, geometries: geometry.geometries.map(moveGeometry) }
    : { ...geometry, coordinates: move(geometry.coordinates) };

const dataset = await open(input, { reproject: false });
try {
  async function* features() {
    for await (const feature of dataset.layers[0]) {
      yield { ...feature, geometry: feature.geometry && moveGeometry(feature.geometry) };
    }
  }
  const report = await write(features(), output, { sourceCrs: to, reproject: false, overwrite: true });
  console.log(`${report.written} features written to ${output}`);
} finally {
  await dataset.close();
}
