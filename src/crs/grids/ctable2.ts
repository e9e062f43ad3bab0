import { allocateSharedValues, findPlacementProblem, type Grid, nestParts } from "./grid.js";
import { type GridFileReader, readPaddedText } from "./grid-file-reader.js";

const headerBytes = 160;
const arcSecond = Math.PI / 648000;

export const isCtable2 = (head: DataView): boolean =>
  head.byteLength >= headerBytes && readPaddedText(head, 0, 9) === "CTABLE V2";

/**
 * Reads CTable2, the format of PROJ's grids without an extension before version 7 (`conus`, `alaska`): little-endian,
 * radians, longitudes positive west.
 * @throws grid-invalid
 */
export async function readCtable2(file: GridFileReader): Promise<Grid> {
  const head = await file.read(0, headerBytes, "its header");
  const [west, south, stepX, stepY] = [96, 104, 112, 120].map((at) => head.getFloat64(at, true)) as [
    ...[number, number, number, number],
  ];
  const columns = head.getInt32(128, true);
  const rows = head.getInt32(132, true);
  const east = west + (columns - 1) * stepX;
  const north = south + (rows - 1) * stepY;
  const part = {
    name: readPaddedText(head, 16, 80),
    parent: null,
    west,
    south,
    east,
    north,
    stepX,
    stepY,
    columns,
    rows,
  };
  const wrong = findPlacementProblem(part);
  if (wrong !== null) throw file.createInvalidGridError(`it is invalid: ${wrong}`);
  const view = await file.read(headerBytes, columns * rows * 8, "its nodes");
  const values = allocateSharedValues(columns * rows);
  for (let node = 0; node < values.length; node += 2) {
    values[node] = -view.getFloat32(floatOffset(node), true) / arcSecond;
    values[node + 1] = view.getFloat32(floatOffset(node + 1), true) / arcSecond;
  }
  return nestParts(file.name, values, [{ ...part, offset: 0, isBiquadratic: false }], false, (reason) =>
    file.createInvalidGridError(reason),
  );
}

const floatOffset = (index: number): number => index * Float32Array.BYTES_PER_ELEMENT;
