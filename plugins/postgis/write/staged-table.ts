import { createError } from "../../../src/plugin/index.js";
import { quoteIdentifier, quoteLiteral } from "../../shared/sql-identifiers.js";
import { type GeometryModifier, geometryModifier, isGeometry, readingOf, TypeCatalog } from "../column-types.js";
import { sqlStateOf } from "../connection/errors.js";
import type { PostgisChunk } from "./encoder.js";
import { idChangedMessage } from "./new-table.js";
import { columnTypeOf } from "./table-design.js";
import { sqlName } from "./table-names.js";
import { fillIds, type TableTask, type TableWriter, ZoneTally, zoneAssumedMessage } from "./table-writer.js";

interface ColumnRow {
  readonly name: string;
  readonly type: number;
  readonly modifier: number;
  /** Declared type. */
  readonly declared: string;
  readonly generated: boolean;
  readonly key: boolean;
}

const columnsSql = `
  SELECT attname AS name, atttypid::int8 AS type, atttypmod AS modifier, format_type(atttypid, atttypmod) AS declared,
         attgenerated <> '' AS generated,
         EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid AND indisprimary AND indnkeyatts = 1
                   AND indkey[0] = attnum) AS key
  FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`;

/** Maps a field to a column. */
interface ColumnMapping {
  /** Column of the table. */
  readonly column: string;
  /** Column of the staging table. */
  readonly staged: string;
  readonly field: string;
  readonly stagedType: string;
  /** Declared type of the table's column; null if it equals the staged type. */
  readonly declared: string | null;
}

/** Maps the geometry to a column. */
interface GeometryMapping {
  readonly column: string;
  readonly declared: string;
  readonly holds: GeometryModifier;
}

const minValues = { int32: -(2n ** 31n), int64: -(2n ** 63n) } as const;

let stagingCount = 0;

/**
 * Writes rows for an existing table to a temporary staging table first, then inserts them in one statement, which converts
 * types and assigns free ids.
 */
export class StagedTable implements TableWriter {
  private readonly staging = `geoferry_rows_${stagingCount++}`;
  private readonly zones: ZoneTally;
  private readonly places: ColumnMapping[] = [];
  private geometry: GeometryMapping | null = null;
  /** The id column, if it has an integer type. */
  private key: string | null = null;
  private anyIds = false;
  private begun = false;
  /** Number of rows in the staging table. */
  private rows = 0;

  constructor(
    private readonly task: TableTask,
    /** SQL that removes existing rows first, but not those of child tables; null to append. */
    private readonly emptying: string | null = null,
  ) {
    this.zones = new ZoneTally(task.design.fields.length);
  }

  /** Maps the layer to the table's columns. @throws unsupported */
  async match(): Promise<void> {
    const { connection, name, design } = this.task;
    const rows = await connection.rows<ColumnRow>(columnsSql, sqlName(name));
    const types = new TypeCatalog(connection);
    await types.load(rows.map(({ type }) => type));
    const factsOf = (row: ColumnRow) => types.typeOf(row.type, row.modifier);
    const key = rows.find((row) => row.key && /^int(32|64)$/.test(readingOf(factsOf(row), "text").type));
    this.key = key?.name ?? null;
    const geometry = rows.find((row) => isGeometry(factsOf(row)));
    if (design.geometry && !geometry) throw this.unsupported("has no geometry column, but the input has geometries");
    if (design.geometry && geometry) {
      const holds = geometryModifier(factsOf(geometry));
      this.geometry = { column: geometry.name, declared: geometry.declared, holds };
    }
    for (const [f, field] of design.fields.entries()) {
      const there = rows.find((row) => row.name === field.name);
      if (there && (there === key || there === geometry)) {
        const role = there === key ? "ids" : "geometry";
        throw this.unsupported(
          `has the ${role} in the column "${field.name}"; give the field another name with --rename`,
        );
      }
      if (there?.generated)
        throw this.unsupported(`computes its column "${field.name}"; leave the field out with --select`);
      if (!there) await this.addColumn(field.name, columnTypeOf(field.type, this.task.options));
      const own = columnTypeOf(field.type, this.task.options);
      const declared = !there || there.declared === own ? null : there.declared;
      this.places.push({ column: field.name, staged: `f${f}`, field: field.name, stagedType: own, declared });
    }
  }

  private unsupported(reason: string): Error {
    const { output, name } = this.task;
    return createError("unsupported", {
      source: output,
      place: { layer: name.table },
      reason: `"${name.table}" ${reason}`,
    });
  }

  private async addColumn(column: string, type: string): Promise<void> {
    const { connection, name, context } = this.task;
    await connection.run(`ALTER TABLE ${sqlName(name)} ADD COLUMN ${quoteIdentifier(column)} ${type}`);
    context.reportNotice("column-added", column, `"${name.table}" had no column for the field; it was added`);
  }

  get target(): string {
    const { design } = this.task;
    const columns = ["id", ...(design.geometry ? ["geometry"] : []), ...this.places.map(({ staged }) => staged)];
    return `pg_temp.${this.staging} (${columns.join(", ")})`;
  }

  async begin(): Promise<void> {
    if (this.begun) return;
    this.begun = true;
    const { connection, design, postgis } = this.task;
    const columns = [
      `id ${design.fid.type === "int64" ? "bigint" : "integer"}`,
      ...(design.geometry ? [`geometry ${quoteIdentifier(postgis!)}.geometry`] : []),
      ...this.places.map(({ staged, stagedType }) => `${staged} ${stagedType}`),
    ];
    await connection.run(`CREATE TEMPORARY TABLE ${this.staging} (${columns.join(", ")}) ON COMMIT DROP`);
  }

  beforeCopy(chunk: PostgisChunk): void {
    this.zones.add(chunk);
    this.rows += chunk.rows;
    if (chunk.greatestId !== null) this.anyIds = true;
    const type = this.task.design.fid.type;
    fillIds(chunk, type, () => minValues[type]);
  }

  async finish(): Promise<void> {
    if (!this.begun && this.emptying === null) return;
    await this.begin();
    const { connection, name, design, context, output } = this.task;
    for (const [f, field] of design.fields.entries()) {
      const unzoned = this.zones.unzoned[f]!;
      const isZoned = !/without time zone/.test(this.places[f]!.declared ?? "");
      if (field.type === "datetime" && unzoned > 0 && isZoned)
        context.reportLoss("zone-assumed", field.name, zoneAssumedMessage, unzoned);
    }
    for (const place of this.places) await this.countChanged(place);
    const geometry = await this.geometryExpression();
    // Blocks concurrent inserts, which could take the same ids, but not reads.
    if (this.emptying === null) await connection.run(`LOCK TABLE ${sqlName(name)} IN SHARE ROW EXCLUSIVE MODE`);
    else await this.empty(this.emptying);
    const ids = this.key === null ? null : await this.assignIds(this.key);
    const columns = [
      ...(ids === null ? [] : [{ column: this.key!, value: ids }]),
      ...(geometry === null ? [] : [{ column: this.geometry!.column, value: geometry }]),
      ...this.places.map((place) => ({ column: place.column, value: this.valueOf(place) })),
    ];
    const into = columns.map(({ column }) => quoteIdentifier(column)).join(", ");
    const values = columns.map(({ value }) => value).join(", ");
    const isCounted = await this.mayRedirect();
    const before = isCounted ? await this.countRows() : 0;
    const inserted = await connection.run(
      columns.length === 0
        ? `INSERT INTO ${sqlName(name)} SELECT FROM pg_temp.${this.staging}`
        : // OVERRIDING keeps ids if the column is GENERATED ALWAYS.
          `INSERT INTO ${sqlName(name)} (${into}) OVERRIDING SYSTEM VALUE SELECT ${values} FROM pg_temp.${this.staging} ORDER BY ctid`,
    );
    const taken = isCounted ? (await this.countRows()) - before : inserted;
    if (taken !== this.rows) throw createError("rows-not-taken", { output, table: name.table, sent: this.rows, taken });
    if (ids !== null) await this.moveSequence(this.key!);
    await connection.run(`DROP TABLE pg_temp.${this.staging}`);
  }

  /**
   * Whether the number of rows that the server reports may differ from the rows that arrive: rules may insert into other
   * tables, and a trigger may move rows to tables that inherit from this one, which belong to it.
   */
  private async mayRedirect(): Promise<boolean> {
    const [row] = await this.task.connection.rows<{ redirects: boolean }>(
      `SELECT relhasrules OR (relhastriggers AND relhassubclass AND relkind <> 'p') AS redirects
       FROM pg_class WHERE oid = $1::regclass`,
      sqlName(this.task.name),
    );
    return row!.redirects;
  }

  private async countRows(): Promise<number> {
    const [row] = await this.task.connection.rows<{ count: number }>(
      `SELECT count(*) AS count FROM ${sqlName(this.task.name)}`,
    );
    return row!.count;
  }

  /** @throws unsupported if rows of other tables refer to existing rows */
  private async empty(sql: string): Promise<void> {
    try {
      await this.task.connection.run(sql);
    } catch (error) {
      if (sqlStateOf(error) !== "0A000") throw error;
      throw this.unsupported(
        `cannot be replaced: ${(error as { detail?: string }).detail ?? (error as Error).message}`,
      );
    }
  }

  /** Casts to the type without its length: a cast truncates, while an assignment reports an error. */
  private valueOf({ staged, declared }: ColumnMapping): string {
    if (declared === null || /^(character|bit)/.test(declared)) return staged;
    return `${staged}::${declared}`;
  }

  /** Counts values that the column's type changes. @throws output-failed if it does not accept a value */
  private async countChanged({ staged, stagedType, declared, column, field }: ColumnMapping): Promise<void> {
    const { connection, context, output, name } = this.task;
    // For these types, only the notation may differ.
    if (declared === null || /^(character|text|jsonb?|real|uuid|citext)/.test(declared)) return;
    try {
      const [row] = await connection.rows<{ changed: number }>(
        `SELECT count(*) AS changed FROM pg_temp.${this.staging}
         WHERE ${staged} IS NOT NULL AND ${staged}::${declared}::${stagedType} IS DISTINCT FROM ${staged}`,
      );
      const example = `values changed on conversion to the column's type ${declared}`;
      if (row!.changed > 0) context.reportLoss("value-changed", field, example, row!.changed);
    } catch (error) {
      const what = `the column "${column}" of "${name.table}" is ${declared}`;
      throw createError("output-failed", { output, reason: `${what}: ${(error as Error).message}` }, error);
    }
  }

  /** Converts the geometry to the column's SRID, dimensions and multi type. */
  private async geometryExpression(): Promise<string | null> {
    if (!this.geometry) return null;
    const { design, postgis, srid, connection, context } = this.task;
    const { holds, declared } = this.geometry;
    const call = (name: string, ...given: readonly string[]) =>
      `${quoteIdentifier(postgis!)}.${name}(${given.join(", ")})`;
    let expression = "geometry";
    const has = design.geometry!;
    if (holds.isDeclared && (holds.z !== has.z || holds.m !== has.m)) {
      const [row] = await connection.rows<{ count: number }>(
        `SELECT count(geometry) AS count FROM pg_temp.${this.staging}`,
      );
      const tell = (code: string, what: string) =>
        row!.count > 0 && context.reportLoss(code, undefined, what, row!.count);
      if (has.z && !holds.z) tell("z-dropped", "the column has no heights");
      if (has.m && !holds.m) tell("m-dropped", "the column has no measures (M)");
      if (!has.z && holds.z) tell("z-missing", "a geometry without heights got the height 0");
      if (!has.m && holds.m) tell("m-missing", "a geometry without measures got the measure 0");
      expression = call(
        holds.z ? (holds.m ? "st_force4d" : "st_force3dz") : holds.m ? "st_force3dm" : "st_force2d",
        expression,
      );
    }
    if (holds.type?.startsWith("Multi")) expression = call("st_multi", expression);
    if (srid > 0) expression = call("st_setsrid", expression, String(srid));
    return declared.includes("geography") ? `${expression}::${quoteIdentifier(postgis!)}.geography` : expression;
  }

  /** Assigns ids to rows without one and to repeated ids. @returns the SQL of the id; null to use the column's default */
  private async assignIds(key: string): Promise<string | null> {
    const { connection, name, context, design } = this.task;
    const sequence = `pg_get_serial_sequence(${quoteLiteral(sqlName(name))}, ${quoteLiteral(key)})`;
    const [row] = await connection.rows<{ sequence: string | null }>(`SELECT ${sequence} AS sequence`);
    if (!this.anyIds && row!.sequence !== null) return null;
    const missing = minValues[design.fid.type];
    const changed = await connection.run(
      `UPDATE pg_temp.${this.staging} AS s SET id = ${missing} FROM (
         SELECT place FROM (
           SELECT ctid AS place, id, row_number() OVER (PARTITION BY id ORDER BY ctid) AS nth
           FROM pg_temp.${this.staging} WHERE id <> ${missing}) AS given
         WHERE nth > 1 OR EXISTS (SELECT FROM ${sqlName(name)} AS t WHERE t.${quoteIdentifier(key)} = given.id)) AS taken
       WHERE s.ctid = taken.place`,
    );
    if (changed > 0) context.reportLoss("id-changed", undefined, idChangedMessage, changed);
    const greatest = `greatest(0, (SELECT max(${quoteIdentifier(key)}) FROM ${sqlName(name)}),
      (SELECT max(id) FROM pg_temp.${this.staging} WHERE id <> ${missing}))`;
    return `CASE WHEN id <> ${missing} THEN id
      ELSE ${greatest} + row_number() OVER (PARTITION BY id = ${missing} ORDER BY ctid) END`;
  }

  private async moveSequence(key: string): Promise<void> {
    const { connection, name } = this.task;
    const table = sqlName(name);
    await connection.run(
      `SELECT setval(s, m) FROM (SELECT pg_get_serial_sequence(${quoteLiteral(table)}, ${quoteLiteral(key)}) AS s,
         (SELECT max(${quoteIdentifier(key)}) FROM ${table}) AS m) AS a WHERE s IS NOT NULL AND m > 0`,
    );
  }
}
