import {
  allocateSharedValues,
  findPlacementProblem,
  type Grid,
  maxNodes,
  maxParts,
  nestParts,
  type UnnestedPart,
} from "./grid.js";
import { type GridFileReader, readPaddedText } from "./grid-file-reader.js";

/** A header is eleven records of a name and a value, eight bytes each. */
const headerBytes = 11 * 16;
/** Where a value of a record stands in a header. */
const valueOffset = (record: number) => record * 16 + 8;
/** Two shifts and their two accuracies, four bytes each. */
const nodeBytes = 16;

/** Radians in a unit of GS_TYPE. */
const radiansPerUnit: Readonly<Record<string, number>> = {
  SECONDS: Math.PI / 648000,
  MINUTES: Math.PI / 10800,
  DEGREES: Math.PI / 180,
};

export const isNtv2 = (head: DataView): boolean =>
  head.byteLength >= headerBytes && readPaddedText(head, 0, 8) === "NUM_OREC";

/**
 * Reads a binary NTv2 file (Geomatics Canada, "NTv2 Developer's Guide", appendix A), of either byte order. Longitudes in
 * it are positive west, and its rows begin at their eastern end.
 * @throws grid-invalid
 */
export async function readNtv2(file: GridFileReader): Promise<Grid> {
  const head = await file.read(0, headerBytes, "its header");
  const little = head.getUint8(valueOffset(0)) === 11;
  const records = [0, 1].map((record) => head.getInt32(valueOffset(record), little));
  if (records[0] !== 11 || records[1] !== 11)
    throw file.createInvalidGridError(
      `its header says that headers have ${records.join(" and ")} records; NTv2 has 11`,
    );
  const count = head.getInt32(valueOffset(2), little);
  if (!(count >= 1 && count <= maxParts))
    throw file.createInvalidGridError(`its header says that it has ${count} parts`);
  const type = readPaddedText(head, valueOffset(3), 8);
  const unit = radiansPerUnit[type];
  if (unit === undefined) throw file.createInvalidGridError(`the unit of its values, "${type}", is not a unit of NTv2`);
  const parts = await readHeaders(file, count, unit, little);
  const values = allocateSharedValues(parts.reduce((sum, { columns, rows }) => sum + columns * rows, 0));
  for (const part of parts) await readNodes(file, part, values, unit, little);
  return nestParts(file.name, values, parts, false, (reason) => file.createInvalidGridError(reason));
}

/** A part, and the byte at which its nodes begin. */
interface PartAtByte extends UnnestedPart {
  readonly byte: number;
}

async function readHeaders(file: GridFileReader, count: number, unit: number, little: boolean): Promise<PartAtByte[]> {
  const parts: PartAtByte[] = [];
  let byte = headerBytes;
  let offset = 0;
  for (let index = 0; index < count; index++) {
    const head = await file.read(byte, headerBytes, `the header of its part ${index + 1}`);
    const name = readPaddedText(head, valueOffset(0), 8);
    if (readPaddedText(head, 0, 8) !== "SUB_NAME")
      throw file.createInvalidGridError(`there is no header of its part ${index + 1}`, byte);
    const parent = readPaddedText(head, valueOffset(1), 8);
    const angle = (record: number) => head.getFloat64(valueOffset(record), little) * unit;
    const [south, north, east, west, stepY, stepX] = [4, 5, 6, 7, 8, 9].map(angle) as [
      ...[number, number, number, number, number, number],
    ];
    const edges = { south, north, east: -east, west: -west, stepX, stepY };
    const columns = Math.floor(Math.abs((edges.east - edges.west) / stepX + 0.5) + 1);
    const rows = Math.floor(Math.abs((north - south) / stepY + 0.5) + 1);
    const wrong = findPlacementProblem({ ...edges, columns, rows });
    if (wrong !== null) throw file.createInvalidGridError(`its part "${name}" is invalid: ${wrong}`, byte);
    const nodes = head.getInt32(valueOffset(10), little);
    if (nodes !== columns * rows)
      throw file.createInvalidGridError(
        `its part "${name}" declares ${nodes} nodes, but its extent has ${columns} by ${rows}`,
        byte,
      );
    byte += headerBytes;
    if (byte + nodes * nodeBytes > file.size)
      throw file.createInvalidGridError(`it ends at byte ${file.size}, before the end of its part "${name}"`, byte);
    if (offset / 2 + nodes > maxNodes) throw file.createInvalidGridError(`it has more than ${maxNodes} nodes`, byte);
    parts.push({
      name,
      parent: parent === "NONE" || parent === "" ? null : parent,
      ...edges,
      columns,
      rows,
      isBiquadratic: false,
      offset,
      byte,
    });
    byte += nodes * nodeBytes;
    offset += 2 * nodes;
  }
  return parts;
}

async function readNodes(
  file: GridFileReader,
  { name, columns, rows, offset, byte }: PartAtByte,
  values: Float32Array,
  unit: number,
  little: boolean,
): Promise<void> {
  const seconds = unit / radiansPerUnit.SECONDS!;
  const rowBytes = columns * nodeBytes;
  const rowsAtOnce = Math.max(1, Math.floor(2 ** 20 / rowBytes));
  for (let row = 0; row < rows; row += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, rows - row);
    const view = await file.read(byte + row * rowBytes, count * rowBytes, `its part "${name}"`);
    for (let i = 0; i < count; i++) {
      let at = i * rowBytes;
      for (let column = columns - 1; column >= 0; column--, at += nodeBytes) {
        const node = offset + 2 * ((row + i) * columns + column);
        values[node] = -view.getFloat32(at + 4, little) * seconds;
        values[node + 1] = view.getFloat32(at, little) * seconds;
      }
    }
  }
}
