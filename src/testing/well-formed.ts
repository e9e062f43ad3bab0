import assert from "node:assert/strict";
import type { Batch } from "../model/batch.js";
import { type Column, isBytesColumn, Presence } from "../model/column.js";
import type { Field } from "../model/field.js";
import { type GeometryColumn, Kind, positionRange } from "../model/geometry.js";

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const arrayTypes = {
  boolean: Uint8Array,
  int32: Int32Array,
  int64: BigInt64Array,
  double: Float64Array,
} as const;

function checkOffsets(offsets: Uint32Array, length: number, end: number, what: string): void {
  assert.equal(offsets.length, length + 1, `${what}: ${length} items need ${length + 1} offsets`);
  assert.equal(offsets[0], 0, `${what}: the first offset must be 0`);
  for (let i = 0; i < length; i++) {
    if (offsets[i + 1]! < offsets[i]!) assert.fail(`${what}: offset ${i + 1} is less than the one before it`);
  }
  assert.ok(offsets[length]! <= end, `${what}: the last offset (${offsets[length]}) lies beyond the end (${end})`);
}

function checkColumn(column: Column, length: number, what: string): void {
  assert.equal(column.presence.length, length, `${what}: presence must have one entry a row`);
  for (const presence of column.presence) {
    if (presence > Presence.absent) assert.fail(`${what}: presence has ${presence}; 0, 1 and 2 are all there is`);
  }
  if (!isBytesColumn(column)) {
    const kind = arrayTypes[column.type];
    assert.ok(column.values instanceof kind, `${what}: ${column.type} values must be in a ${kind.name}`);
    assert.equal(column.values.length, length, `${what}: values must have one entry a row`);
    return;
  }
  checkOffsets(column.offsets, length, column.bytes.length, what);
  if (column.type === "binary") return;
  for (let row = 0; row < length; row++) {
    if (column.presence[row] !== Presence.value) continue;
    const bytes = column.bytes.subarray(column.offsets[row]!, column.offsets[row + 1]!);
    let text: string;
    try {
      text = strictUtf8.decode(bytes);
    } catch {
      assert.fail(`${what}, row ${row}: the bytes are not UTF-8`);
    }
    checkText(column.type, text, `${what}, row ${row}`);
  }
}

const valuePatterns = {
  date: /^[+-]?\d{4,6}-\d\d-\d\d$/,
  time: /^\d\d:\d\d:\d\d(\.\d+)?$/,
  datetime: /^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/,
} as const;

function checkText(type: string, text: string, what: string): void {
  if (type === "json") {
    try {
      JSON.parse(text);
    } catch {
      assert.fail(`${what}: not JSON: ${text.slice(0, 60)}`);
    }
  } else if (type !== "text") {
    const pattern = valuePatterns[type as keyof typeof valuePatterns];
    assert.match(text, pattern, `${what}: "${text.slice(0, 60)}" is not a ${type} as the model has it`);
  }
}

/** Positions of one ring that the kind needs at least where it has a ring at all: a line or shell of none is empty. */
function checkGeometry(geometry: GeometryColumn, length: number, what: string): void {
  assert.equal(geometry.length, length, `${what}: the geometry column has another length than the batch`);
  assert.equal(geometry.kinds.length, length, `${what}: kinds must have one entry a row`);
  const parts = geometry.ringOffsets.length - 1;
  const rings = geometry.positionOffsets.length - 1;
  const positions = geometry.xy.length / 2;
  checkOffsets(geometry.partOffsets, length, parts, `${what}, partOffsets`);
  checkOffsets(geometry.ringOffsets, parts, rings, `${what}, ringOffsets`);
  checkOffsets(geometry.positionOffsets, rings, positions, `${what}, positionOffsets`);
  for (const name of ["z", "m"] as const) {
    const numbers = geometry[name];
    if (numbers) assert.ok(numbers.length >= positions, `${what}: ${name} has fewer entries than there are positions`);
  }
  if (geometry.boxes) checkBoxes(geometry, geometry.boxes, length, what);
  for (let i = 0; i < length; i++) checkKind(geometry, i, `${what}, row ${i}`);
  if (geometry.members) checkGeometry(geometry.members, geometry.members.length, `${what}, members`);
}

function checkBoxes(geometry: GeometryColumn, boxes: Float64Array, length: number, what: string): void {
  assert.equal(boxes.length, 4 * length, `${what}: boxes must have four numbers a row`);
  for (let i = 0; i < length; i++) {
    const [from, to] = positionRange(geometry, i);
    const positions = [...geometry.xy.subarray(2 * from, 2 * to)];
    const xs = positions.filter((_, k) => k % 2 === 0);
    const ys = positions.filter((_, k) => k % 2 === 1);
    const box = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    assert.ok(positions.every(Number.isFinite), `${what}, row ${i}: a coordinate is not finite, which boxes promise`);
    assert.deepEqual([...boxes.subarray(4 * i, 4 * i + 4)], box, `${what}, row ${i}: the box is not that of the row`);
  }
}

function checkKind(geometry: GeometryColumn, i: number, what: string): void {
  const kind = geometry.kinds[i]!;
  const from = geometry.partOffsets[i]!;
  const parts = geometry.partOffsets[i + 1]! - from;
  if (kind > Kind.GeometryCollection) assert.fail(`${what}: there is no kind ${kind}`);
  if (kind === Kind.none || kind === Kind.GeometryCollection) {
    assert.equal(parts, 0, `${what}: a null geometry or a collection has no parts of its own`);
  } else if (kind !== Kind.MultiPolygon) {
    assert.ok(parts <= 1, `${what}: only a MultiPolygon has more than one part`);
  }
  const oneRing = kind === Kind.Point || kind === Kind.LineString || kind === Kind.MultiPoint;
  if (!oneRing || parts === 0) return;
  const ring = geometry.ringOffsets[from]!;
  assert.equal(geometry.ringOffsets[from + 1]! - ring, 1, `${what}: this kind has one ring`);
  if (kind !== Kind.Point) return;
  const positions = geometry.positionOffsets[ring + 1]! - geometry.positionOffsets[ring]!;
  assert.equal(positions, 1, `${what}: a Point that is not empty has one position`);
}

/**
 * Whether a batch is built as the model says: lengths, offsets, array types, UTF-8, dates and JSON in their forms.
 * @param declared the fields of the layer, where it declares them
 * @throws AssertionError that names the column and row
 */
export function assertWellFormed(batch: Batch, declared: readonly Field[] | null): void {
  const { length, fields, columns } = batch;
  assert.equal(columns.length, fields.length, "a batch has one column a field");
  assert.equal(new Set(fields.map((field) => field.name)).size, fields.length, "two fields have the same name");
  fields.forEach((field, f) => {
    const column = columns[f]!;
    assert.equal(column.type, field.type, `field "${field.name}": its column is of another type`);
    checkColumn(column, length, `field "${field.name}"`);
  });
  if (declared) {
    const said = (list: readonly Field[]) => list.map((field) => `${field.name}: ${field.type}`);
    assert.deepEqual(said(fields), said(declared), "a layer that declares its fields must have them in every batch");
  }
  if (batch.ids) checkColumn(batch.ids, length, "ids");
  if (batch.recordNumbers) assert.equal(batch.recordNumbers.length, length, "records must have one entry a row");
  checkGeometry(batch.geometry, length, "geometry");
}
