import { type Grid, misplaced, nest, sharedValues } from "./grid.js";
import { type GridBytes, textIn } from "./grid-bytes.js";

const headerBytes = 160;
const secondOfArc = Math.PI / 648000;

export const isCtable2 = (head: DataView): boolean =>
  head.byteLength >= headerBytes && textIn(head, 0, 9) === "CTABLE V2";

/**
 * Reads the format that PROJ's grids without an extension had before its version 7 (`conus`, `alaska`): little-endian,
 * radians, longitudes positive west.
 * @throws grid-unusable
 */
export async function readCtable2(file: GridBytes): Promise<Grid> {
  const head = await file.read(0, headerBytes, "its header");
  const [west, south, stepX, stepY] = [96, 104, 112, 120].map((at) => head.getFloat64(at, true)) as [
    ...[number, number, number, number],
  ];
  const columns = head.getInt32(128, true);
  const rows = head.getInt32(132, true);
  const east = west + (columns - 1) * stepX;
  const north = south + (rows - 1) * stepY;
  const part = { name: textIn(head, 16, 80), parent: null, west, south, east, north, stepX, stepY, columns, rows };
  const wrong = misplaced(part);
  if (wrong !== null) throw file.unusable(`it cannot be: ${wrong}`);
  const view = await file.read(headerBytes, columns * rows * 8, "its nodes");
  const values = sharedValues(columns * rows);
  for (let node = 0; node < values.length; node += 2) {
    values[node] = -view.getFloat32(byteOf(node), true) / secondOfArc;
    values[node + 1] = view.getFloat32(byteOf(node + 1), true) / secondOfArc;
  }
  return nest(file.name, values, [{ ...part, offset: 0, byParabolas: false }], false, (reason) =>
    file.unusable(reason),
  );
}

const byteOf = (index: number): number => index * Float32Array.BYTES_PER_ELEMENT;
