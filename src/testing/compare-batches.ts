import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { Batch } from "../model/batch.js";
import { type Column, Presence, type Value, valueAt } from "../model/column.js";
import type { FieldType } from "../model/field.js";
import { type GeometryColumn, geometryTypes } from "../model/geometry.js";
import type { Loss } from "../model/report.js";

/** How exactly what comes back must be what went in. */
export interface ComparisonRules {
  /** Greatest difference of a coordinate, in the layer's unit. */
  readonly tolerance: number;
  /** Whether a Polygon may come back as a MultiPolygon of one, and so on. */
  readonly singleIsMulti: boolean;
  /** Whether null may come back for absent. */
  readonly absentIsNull: boolean;
  /** Whether the feature ids must come back; `given` where the format makes up those that are not there. */
  readonly ids: boolean | "given";
  /** Field types that must come back as themselves; of others only the values count. */
  readonly keepsTypes: readonly FieldType[];
}

/** What became of one field, or of the geometries (`null`). */
interface FieldDifference {
  /** Values that say something else than before. */
  changed: number;
  /** Values that differ in type or form; their content is not compared. */
  touched: number;
  example: string;
}

type Differences = Map<string | null, FieldDifference>;

/** A time or datetime without what makes no difference: zeros that end a fraction, and `+00:00` for `Z`. */
const normalizeTime = (text: string): string =>
  text
    .replace(/\+00:00$/, "Z")
    .replace(/(\.\d*?)0+(?=Z|[+-]|$)/, "$1")
    .replace(/\.(?=Z|[+-]|$)/, "");

/** A value in a form in which the same thing said in two types is the same text. */
function normalizeValue(value: Value): string | null {
  if (value === null) return null;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return Object.is(value, -0) ? "0" : String(value);
}

const tryParseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Whether two values say the same, each in its own type: 1.0 and 1, a date and its text, JSON however it is spaced. */
export function areEquivalent(a: Value, aType: FieldType, b: Value, bType: FieldType): boolean {
  const one = normalizeValue(a);
  const other = normalizeValue(b);
  if (one === other) return true;
  if (one === null || other === null) return false;
  const types = [aType, bType];
  if (types.includes("datetime") || types.includes("time")) return normalizeTime(one) === normalizeTime(other);
  if (typeof a === "number" || typeof b === "number") {
    return one.trim() !== "" && other.trim() !== "" && Number(one) === Number(other);
  }
  return types.includes("json") && isDeepStrictEqual(tryParseJson(one), tryParseJson(other));
}

function shown(value: Value): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  return text.length > 80 ? `${text.slice(0, 77)}… (${text.length} characters)` : text;
}

type PositionNumbers = readonly [x: number, y: number, z: number, m: number];

/** A geometry as nested arrays, rings as RFC 7946 turns them. */
interface NestedGeometry {
  readonly type: string | null;
  readonly parts: readonly (readonly (readonly PositionNumbers[])[])[];
  readonly members: readonly NestedGeometry[];
}

function signedArea(ring: readonly PositionNumbers[]): number {
  let twice = 0;
  for (let k = 1; k < ring.length; k++) twice += ring[k - 1]![0] * ring[k]![1] - ring[k]![0] * ring[k - 1]![1];
  return twice;
}

function nestedGeometryAt(geometry: GeometryColumn, i: number): NestedGeometry {
  const { partOffsets, ringOffsets, positionOffsets, xy, z, m, members, memberOffsets } = geometry;
  const type = geometryTypes[geometry.kinds[i]!] ?? null;
  const isArea = type === "Polygon" || type === "MultiPolygon";
  const parts: PositionNumbers[][][] = [];
  for (let p = partOffsets[i]!; p < partOffsets[i + 1]!; p++) {
    const rings: PositionNumbers[][] = [];
    for (let r = ringOffsets[p]!; r < ringOffsets[p + 1]!; r++) {
      const ring: PositionNumbers[] = [];
      for (let k = positionOffsets[r]!; k < positionOffsets[r + 1]!; k++) {
        ring.push([xy[2 * k]!, xy[2 * k + 1]!, z ? z[k]! : Number.NaN, m ? m[k]! : Number.NaN]);
      }
      const isShell = rings.length === 0;
      if (isArea && signedArea(ring) > 0 !== isShell) ring.reverse();
      rings.push(ring);
    }
    parts.push(rings);
  }
  const inner: NestedGeometry[] = [];
  if (type === "GeometryCollection" && members && memberOffsets) {
    for (let k = memberOffsets[i]!; k < memberOffsets[i + 1]!; k++) inner.push(nestedGeometryAt(members, k));
  }
  return { type, parts, members: inner };
}

const singleTypeOf = (shape: NestedGeometry): string | null => {
  const { type, parts } = shape;
  const count = type === "MultiPolygon" ? parts.length : (parts[0]?.length ?? 0);
  const points = type === "MultiPoint" ? (parts[0]?.[0]?.length ?? 0) : count;
  return type?.startsWith("Multi") && points <= 1 ? type.slice("Multi".length) : type;
};

const isWithinTolerance = (a: number, b: number, tolerance: number): boolean =>
  a === b || Math.abs(a - b) <= tolerance || (Number.isNaN(a) && Number.isNaN(b));

/** In words what is different about two geometries; null if nothing is. */
function describeGeometryDifference(a: NestedGeometry, b: NestedGeometry, how: ComparisonRules): string | null {
  const typeOf = how.singleIsMulti ? singleTypeOf : (shape: NestedGeometry) => shape.type;
  if (typeOf(a) !== typeOf(b)) return `a ${a.type ?? "null geometry"} became a ${b.type ?? "null geometry"}`;
  if (a.members.length !== b.members.length) return `${a.members.length} members became ${b.members.length}`;
  if (a.parts.length !== b.parts.length) return `${a.type}: ${a.parts.length} parts became ${b.parts.length}`;
  for (const [p, part] of a.parts.entries()) {
    const otherPart = b.parts[p]!;
    if (part.length !== otherPart.length) return `${a.type}: ${part.length} rings or lines became ${otherPart.length}`;
    for (const [r, ring] of part.entries()) {
      const other = otherPart[r]!;
      if (ring.length !== other.length) return `${a.type}: ${ring.length} positions became ${other.length}`;
      const k = ring.findIndex((position, at) =>
        position.some((n, axis) => !isWithinTolerance(n, other[at]![axis]!, how.tolerance)),
      );
      if (k >= 0) return `${a.type}: the position ${ring[k]!.join(" ")} became ${other[k]!.join(" ")} (x y z m)`;
    }
  }
  for (const [k, member] of a.members.entries()) {
    const difference = describeGeometryDifference(member, b.members[k]!, how);
    if (difference) return `member ${k}: ${difference}`;
  }
  return null;
}

function countDifference(into: Differences, field: string | null, changed: boolean, example: () => string): void {
  const known = into.get(field);
  if (!known) into.set(field, { changed: Number(changed), touched: 1, example: example() });
  else {
    // An example of a change says more than one of another form.
    if (changed && known.changed === 0) known.example = example();
    known.changed += Number(changed);
    known.touched++;
  }
}

interface Cell {
  readonly column: Column | undefined;
  readonly row: number;
}

function compareCell(into: Differences, field: string, a: Cell, b: Cell, at: number, how: ComparisonRules): void {
  const aType = a.column?.type ?? "text";
  const bType = b.column?.type ?? "text";
  const one = a.column ? valueAt(a.column, a.row) : null;
  const other = b.column ? valueAt(b.column, b.row) : null;
  const aIsThere = (a.column?.presence[a.row] ?? Presence.absent) !== Presence.absent;
  const bIsThere = (b.column?.presence[b.row] ?? Presence.absent) !== Presence.absent;
  const words = () =>
    `feature ${at}: ${aType} ${aIsThere ? shown(one) : "(absent)"} became ${bType} ${bIsThere ? shown(other) : "(absent)"}`;
  if (one === null && other === null) {
    if (aIsThere !== bIsThere) countDifference(into, field, !how.absentIsNull, words);
    return;
  }
  const retyped = how.keepsTypes.includes(aType) && aType !== bType;
  if (retyped || !areEquivalent(one, aType, other, bType)) countDifference(into, field, true, words);
  else if (aType !== bType || normalizeValue(one) !== normalizeValue(other)) countDifference(into, field, false, words);
}

function* rowsOf(batches: readonly Batch[]): Generator<readonly [Batch, number]> {
  for (const batch of batches) for (let row = 0; row < batch.length; row++) yield [batch, row];
}

function findDifferences(given: readonly Batch[], read: readonly Batch[], how: ComparisonRules): Differences {
  const found: Differences = new Map();
  const others = rowsOf(read);
  let at = 0;
  for (const [batch, row] of rowsOf(given)) {
    const [other, otherRow] = others.next().value as readonly [Batch, number];
    const shape = describeGeometryDifference(
      nestedGeometryAt(batch.geometry, row),
      nestedGeometryAt(other.geometry, otherRow),
      how,
    );
    if (shape) countDifference(found, null, true, () => `feature ${at}: ${shape}`);
    // A format that must have a field makes one up where there is none.
    const names = new Set([...batch.fields, ...(batch.fields.length > 0 ? other.fields : [])].map(({ name }) => name));
    for (const name of names) {
      const cell = (from: Batch, of: number): Cell => ({
        column: from.columns[from.fields.findIndex((field) => field.name === name)],
        row: of,
      });
      compareCell(found, name, cell(batch, row), cell(other, otherRow), at, how);
    }
    if (how.ids === true || (how.ids && batch.ids)) {
      const ids = { column: batch.ids ?? undefined, row };
      compareCell(found, "(feature id)", ids, { column: other.ids ?? undefined, row: otherRow }, at, how);
    }
    at++;
  }
  return found;
}

const totalCount = (losses: readonly Loss[]): number => losses.reduce((sum, loss) => sum + loss.count, 0);

/**
 * Whether what was read is what was written, but for what `lose` said of it: each value that says something else must
 * have been counted, for its field (or for none, where geometries or ids changed), and what was counted must have changed.
 * @throws AssertionError with an example
 */
export function assertOnlyReportedChanges(
  losses: readonly Loss[],
  given: readonly Batch[],
  read: readonly Batch[],
  how: ComparisonRules,
): void {
  const count = (batches: readonly Batch[]) => batches.reduce((sum, batch) => sum + batch.length, 0);
  assert.equal(count(read), count(given), "another number of features came back than was written");
  const found = findDifferences(given, read, how);
  for (const [field, { changed, example }] of found) {
    const of = field === null || field === "(feature id)" ? undefined : field;
    const said = totalCount(losses.filter((loss) => loss.field === of));
    if (said >= changed) continue;
    const what = field === null ? "geometries" : `values of ${field === "(feature id)" ? field : `field "${field}"`}`;
    assert.fail(`${changed} ${what} came back changed and lose() counted ${said}: ${example}`);
  }
  for (const loss of losses) {
    const touched = loss.field === undefined ? found.size > 0 : found.has(loss.field);
    const where = loss.field === undefined ? "" : ` of field "${loss.field}"`;
    assert.ok(
      touched,
      `lose("${loss.code}")${where} was counted ${loss.count} times, but nothing changed: ${loss.example}`,
    );
  }
}

/** Whether two readings of the same source gave the same. @throws AssertionError with the first difference */
export function assertSameBatches(one: readonly Batch[], other: readonly Batch[], what: string): void {
  const isSame = (batch: Batch, n: number) => isDeepStrictEqual(batch.toData(), other[n]!.toData());
  // Nearly always the batches are the same, too, which is seen much faster.
  if (one.length === other.length && one.every(isSame)) return;
  const exact: ComparisonRules = {
    tolerance: 0,
    singleIsMulti: false,
    absentIsNull: false,
    ids: true,
    keepsTypes: ["boolean", "int32", "int64", "double", "text", "date", "time", "datetime", "binary", "json"],
  };
  try {
    assertOnlyReportedChanges([], one, other, exact);
  } catch (error) {
    assert.fail(`${what}: ${(error as Error).message.replace(" and lose() counted 0", "")}`);
  }
}
