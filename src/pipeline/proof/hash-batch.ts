/**
 * Hashes the canonical form of the rows of a batch, column by column. What `writeCell` writes as a byte for the kind of a
 * value and bytes for the value is mixed in as one word for the kind and the words of the bytes; the usual columns do not
 * take the way over bytes.
 */
import type { ByteWriter } from "../../canonical/byte-writer.js";
import { hasNumber } from "../../canonical/canonical-row.js";
import { mayBeTime } from "../../canonical/canonical-value.js";
import { type GeometryVisitor, visitGeometry } from "../../canonical/normalize-geometry.js";
import { type BytesColumn, type Column, isBytesColumn, Presence } from "../../model/column.js";
import { isLittleEndian } from "../../model/doubles.js";
import type { FieldType } from "../../model/field.js";
import { type GeometryColumn, Kind } from "../../model/geometry.js";
import { cellTags, textComparison, writeCell, writeId } from "./proof-cell.js";
import type { ProofColumn } from "./proof-columns.js";
import { idRules, type ProofRules } from "./proof-rules.js";
import { RowHashes } from "./row-hashes.js";
import { unitsOf } from "./units-of.js";

/** The word that stands for the name of a field: its own hash. */
function nameWord(name: Uint8Array): number {
  const hashes = new RowHashes(1);
  hashes.open(0);
  hashes.word(name.length);
  hashes.bytes(name, 0, name.length);
  hashes.close();
  return hashes.finish().readInt32LE(0);
}

/** A word for a field and a kind of value. */
const wordOf = (name: number, tag: number): number => (name + Math.imul(tag, 0x9e3779b1)) | 0;

type CellRules = Pick<ProofRules, "types" | "absentIsNull">;

export function hashColumn(
  hashes: RowHashes,
  { bytes, column, writtenType }: ProofColumn,
  rules: CellRules,
  writer: ByteWriter,
): void {
  hashCells(hashes, column, nameWord(bytes), writtenType, rules, writer);
}

export function hashIds(hashes: RowHashes, ids: Column, asText: boolean, writer: ByteWriter): void {
  if (!asText) {
    hashCells(hashes, ids, 0, null, idRules, writer);
    return;
  }
  for (let row = 0; row < hashes.rows; row++) {
    writer.reset();
    if (!writeId(writer, ids, row, true)) continue;
    hashes.open(row);
    hashes.bytes(writer.written, 0, writer.length);
    hashes.close();
  }
}

function hashCells(
  hashes: RowHashes,
  column: Column,
  name: number,
  writtenType: FieldType | null,
  rules: CellRules,
  writer: ByteWriter,
): void {
  const texts = textComparison(column.type, writtenType, rules);
  const isNumber = column.type === "double" || column.type === "int32";
  const isText = isBytesColumn(column) && texts !== null && texts !== "parsed";
  if (isNumber) hashes.numbers(column.values, column.presence, wordOf(name, cellTags.number));
  if (isText) hashes.texts(column, wordOf(name, cellTags.text), texts === "exact");
  if (isNumber && rules.absentIsNull) return;
  const halves = column.type === "int64" ? new Int32Array(column.values.buffer, column.values.byteOffset) : null;
  for (let row = 0; row < hashes.rows; row++) {
    const hasValue = column.presence[row] === Presence.value;
    if (!hasValue && (rules.absentIsNull || column.presence[row] === Presence.absent)) continue;
    if (hasValue && (isNumber || (isText && !isLeftOut(column, row, texts === "exact")))) continue;
    hashes.open(row);
    const isHashed =
      (hasValue && halves !== null && hashInteger(hashes, name, halves[2 * row]!, halves[2 * row + 1]!)) ||
      hashWritten(hashes, name, column, row, writtenType, rules, writer);
    if (isHashed) hashes.close();
  }
}

/** Whether `RowHashes.texts` leaves out a text. */
const isLeftOut = ({ bytes, offsets }: BytesColumn, row: number, isExact: boolean): boolean =>
  !isExact && mayBeTime(bytes, offsets[row]!, offsets[row + 1]!);

/** @returns false for an integer that a double does not hold */
function hashInteger(hashes: RowHashes, name: number, low: number, high: number): boolean {
  const value = high * 2 ** 32 + (low >>> 0);
  if (!isLittleEndian || !Number.isSafeInteger(value)) return false;
  hashes.word(wordOf(name, cellTags.number));
  hashes.double(value);
  return true;
}

/** @returns false if the cell has no value */
function hashWritten(
  hashes: RowHashes,
  name: number,
  column: Column,
  row: number,
  writtenType: FieldType | null,
  rules: CellRules,
  writer: ByteWriter,
): boolean {
  writer.reset();
  if (!writeCell(writer, column, row, writtenType, rules)) return false;
  const { written } = writer;
  hashes.word(wordOf(name, written[0]!));
  hashes.bytes(written, 1, written.length);
  return true;
}

class GeometryHasher implements GeometryVisitor {
  private readonly scale: number;
  private readonly heightScale: number;

  constructor(
    private readonly hashes: RowHashes,
    private readonly rules: ProofRules,
  ) {
    const { xy, z } = rules.decimals;
    this.scale = 10 ** (xy ?? 0);
    this.heightScale = 10 ** (z ?? 0);
  }

  geometry(kind: number, count: number): void {
    this.hashes.word(kind);
    this.hashes.word(count);
  }

  part(count: number): void {
    this.hashes.word(count);
  }

  ring({ xy, z, m }: GeometryColumn, from: number, to: number, reversed: boolean): void {
    const { hashes, scale, heightScale } = this;
    const { xy: decimals, z: heightDecimals } = this.rules.decimals;
    const hasZ = hasNumber(z, from, to);
    const hasM = hasNumber(m, from, to);
    hashes.word(to - from);
    hashes.word((hasZ ? 1 : 0) | (hasM ? 2 : 0));
    hashes.positions(xy, from, to, reversed, decimals, scale);
    if (!hasZ && !hasM) return;
    const step = reversed ? -1 : 1;
    for (let n = from, k = reversed ? to - 1 : from; n < to; n++, k += step) {
      if (hasZ) hashes.double(unitsOf(z![k]!, heightDecimals, heightScale));
      if (hasM) hashes.double(m![k]!);
    }
  }

  add(column: GeometryColumn, row: number): void {
    const kind = column.kinds[row]!;
    // The visitor takes a multi-geometry of one part for that part, and one without positions for none.
    if (!this.rules.singleIsMulti) this.hashes.word(kind);
    if (kind !== Kind.Point || column.partOffsets[row] === column.partOffsets[row + 1]) {
      visitGeometry(column, row, this);
      return;
    }
    // As the visitor does, in fewer steps.
    const k = column.positionOffsets[column.ringOffsets[column.partOffsets[row]!]!]!;
    this.geometry(Kind.Point, 1);
    this.part(1);
    this.ring(column, k, k + 1, false);
  }
}

export function hashGeometries(hashes: RowHashes, geometry: GeometryColumn, rules: ProofRules): void {
  const hasher = new GeometryHasher(hashes, rules);
  for (let row = 0; row < hashes.rows; row++) {
    hashes.open(row);
    hasher.add(geometry, row);
    hashes.close();
  }
}

/** The digest of one geometry. */
export function hashGeometry(geometry: GeometryColumn, row: number, rules: ProofRules): Buffer {
  const hashes = new RowHashes(1);
  hashes.open(0);
  new GeometryHasher(hashes, rules).add(geometry, row);
  hashes.close();
  return hashes.finish();
}
