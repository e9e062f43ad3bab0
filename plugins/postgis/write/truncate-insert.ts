/** Decides whether a table can be replaced by changing only its rows, which keeps dependent objects. */
import { type Field, type FieldType, type GeometryType, type LayerSummary, typesIn } from "../../../src/model/index.js";
import { GeoferryError } from "../../../src/plugin/index.js";
import { geometryModifier, isGeometry, readingOf, TypeCatalog, type TypeInfo } from "../column-types.js";
import { sqlName } from "./table-names.js";
import type { TableTask } from "./table-writer.js";

interface ColumnRow {
  readonly name: string;
  readonly type: number;
  readonly modifier: number;
  /** Whether it has a default or is an identity column. */
  readonly filled: boolean;
  readonly generated: boolean;
  readonly required: boolean;
  readonly key: boolean;
}

const columnsSql = `
  SELECT attname AS name, atttypid::int8 AS type, atttypmod AS modifier, attnotnull AS required,
         atthasdef OR attidentity <> '' AS filled, attgenerated <> '' AS generated,
         EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary AND indnkeyatts = 1
                   AND indkey[0] = attnum) AS key
  FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

/** Wider column types that hold all values of a field type. */
const widerTypes: Readonly<Partial<Record<FieldType, readonly FieldType[]>>> = { int32: ["int64", "double"] };

/** Types whose modifier is their length plus four. */
const typesWithLength = new Set(["varchar", "bpchar"]);
const lengthModifierOffset = 4;

function holdsField(facts: TypeInfo, { type }: Field, maxBytes: number): boolean {
  const held = readingOf(facts, "auto").type;
  if (held !== type && !widerTypes[type]?.includes(held)) return false;
  return !typesWithLength.has(facts.name) || facts.modifier < 0 || maxBytes <= facts.modifier - lengthModifierOffset;
}

const isSameType = (type: GeometryType, held: GeometryType): boolean => type === held || `Multi${type}` === held;

/**
 * @param srid of the table, or the error if the input has another CRS
 * @returns the reason why the table must be recreated; null if it can stay
 */
export async function findIncompatibility(
  { connection, name, design, context }: TableTask,
  summary: LayerSummary,
  srid: number | GeoferryError,
): Promise<string | null> {
  const rows = await connection.rows<ColumnRow>(columnsSql, sqlName(name));
  const types = new TypeCatalog(connection);
  await types.load(rows.map(({ type }) => type));
  const factsOf = (row: ColumnRow) => types.typeOf(row.type, row.modifier);
  const geometry = rows.find((row) => isGeometry(factsOf(row)));
  const key = rows.find((row) => row.key && /^int(32|64)$/.test(readingOf(factsOf(row), "text").type));
  if (srid instanceof GeoferryError) return "it has another CRS";
  if (summary.idType !== null && !key) return "it has no integer key for the ids";
  if (design.geometry) {
    if (!geometry) return "it has no geometry column";
    const holds = geometryModifier(factsOf(geometry));
    const { z, m } = design.geometry;
    if (holds.isDeclared && typesIn(summary).length > 0 && (holds.z !== z || holds.m !== m))
      return `its geometry has other dimensions`;
    const { type } = holds;
    if (type !== null && !typesIn(summary).every((each) => isSameType(each, type)))
      return `its geometry is ${type} only`;
  }
  const columns = new Map(rows.map((row) => [row.name, row]));
  for (const field of design.fields) {
    const row = columns.get(field.name);
    if (!row) continue;
    if (row === key || row === geometry || row.generated) return `its column "${field.name}" has another role`;
    const maxBytes = summary.fields.find(({ name }) => name === field.name)?.maxBytes ?? 0;
    if (!holdsField(factsOf(row), field, maxBytes)) return `its column "${field.name}" does not hold ${field.type}`;
  }
  const fields = new Set(design.fields.map((field) => field.name));
  const others = rows.filter(
    (row) =>
      !fields.has(row.name) && row !== key && !(row === geometry && design.geometry) && !row.generated && !row.filled,
  );
  const required = others.find((row) => row.required);
  if (required) return `its column "${required.name}" is NOT NULL, but the input has no values for it`;
  for (const row of others)
    context.reportNotice(
      "column-emptied",
      row.name,
      `"${name.table}" keeps the column, which is null now: the input has no values for it`,
    );
  return null;
}
