import { createError } from "../../../src/plugin/index.js";
import { quoteIdentifier } from "../../shared/sql-identifiers.js";
import { type GeometryModifier, geometryModifier, isGeometry, readingOf, TypeCatalog } from "../column-types.js";
import { sqlStateOf } from "../connection/errors.js";
import { quoteLiteral } from "../identifiers.js";
import type { PostgisChunk } from "./encoder.js";
import { idChangedMessage } from "./new-table.js";
import { columnTypeOf } from "./table-design.js";
import { sqlName } from "./table-names.js";
import { fillIds, type TableTask, type TableWriter, ZoneTally, zoneAssumedMessage } from "./table-writer.js";

interface ColumnRow {
  readonly name: string;
  readonly type: number;
  readonly modifier: number;
  /** As SQL declares it. */
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

/** Where a field of the layer goes. */
interface ColumnMapping {
  /** Of the table. */
  readonly column: string;
  /** Of the rows that came. */
  readonly staged: string;
  readonly field: string;
  readonly stagedType: string;
  /** Null where it is the type of the rows. */
  readonly declared: string | null;
}

/** Where the geometry goes. */
interface GeometryMapping {
  readonly column: string;
  readonly declared: string;
  readonly holds: GeometryModifier;
}

const minValues = { int32: -(2n ** 31n), int64: -(2n ** 63n) } as const;

let stagingCount = 0;

/**
 * Rows for a table that is there come into a table of their own first, which lasts as long as the transaction. From
 * there they go over in one statement, with the types that the table has and ids that it has not.
 */
export class StagedTable implements TableWriter {
  private readonly staging = `geoferry_rows_${stagingCount++}`;
  private readonly zones: ZoneTally;
  private readonly places: ColumnMapping[] = [];
  private geometry: GeometryMapping | null = null;
  /** The column with the ids, where it is one of whole numbers. */
  private key: string | null = null;
  private anyIds = false;
  private begun = false;

  constructor(
    private readonly task: TableTask,
    /** How the rows that are there are taken out before: all of them, and none of tables that inherit from it. */
    private readonly emptying: string | null = null,
  ) {
    this.zones = new ZoneTally(task.design.fields.length);
  }

  /** Compares the layer with the table. @throws unsupported */
  async match(): Promise<void> {
    const { connection, name, design } = this.task;
    const rows = await connection.rows<ColumnRow>(columnsSql, sqlName(name));
    const types = new TypeCatalog(connection);
    await types.learn(rows.map(({ type }) => type));
    const factsOf = (row: ColumnRow) => types.factsOf(row.type, row.modifier);
    const key = rows.find((row) => row.key && /^int(32|64)$/.test(readingOf(factsOf(row), "text").type));
    this.key = key?.name ?? null;
    const geometry = rows.find((row) => isGeometry(factsOf(row)));
    if (design.geometry && !geometry)
      throw this.refused("is a table without geometry, and what is to be added has one");
    if (design.geometry && geometry) {
      const holds = geometryModifier(factsOf(geometry));
      this.geometry = { column: geometry.name, declared: geometry.declared, holds };
    }
    for (const [f, field] of design.fields.entries()) {
      const there = rows.find((row) => row.name === field.name);
      if (there && (there === key || there === geometry)) {
        const role = there === key ? "ids" : "geometry";
        throw this.refused(`has the ${role} in the column "${field.name}"; give the field another name with --rename`);
      }
      if (there?.generated)
        throw this.refused(`computes its column "${field.name}"; leave the field out with --select`);
      if (!there) await this.addColumn(field.name, columnTypeOf(field.type, this.task.options));
      const own = columnTypeOf(field.type, this.task.options);
      const declared = !there || there.declared === own ? null : there.declared;
      this.places.push({ column: field.name, staged: `f${f}`, field: field.name, stagedType: own, declared });
    }
  }

  private refused(reason: string): Error {
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
    context.reportNotice("column-added", column, `"${name.table}" had no column for the field, and has one now`);
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

  note(chunk: PostgisChunk): void {
    this.zones.add(chunk);
    if (chunk.greatestId !== null) this.anyIds = true;
    const type = this.task.design.fid.type;
    fillIds(chunk, type, () => minValues[type]);
  }

  async finish(): Promise<void> {
    if (!this.begun && this.emptying === null) return;
    await this.begin();
    const { connection, name, design, context } = this.task;
    for (const [f, field] of design.fields.entries()) {
      const unzoned = this.zones.unzoned[f]!;
      const isZoned = !/without time zone/.test(this.places[f]!.declared ?? "");
      if (field.type === "datetime" && unzoned > 0 && isZoned)
        context.reportLoss("zone-assumed", field.name, zoneAssumedMessage, unzoned);
    }
    for (const place of this.places) await this.countChanged(place);
    const geometry = await this.geometryExpression();
    // No one else gives ids meanwhile; who reads does not wait.
    if (this.emptying === null) await connection.run(`LOCK TABLE ${sqlName(name)} IN SHARE ROW EXCLUSIVE MODE`);
    else await this.empty(this.emptying);
    const ids = this.key === null ? null : await this.settleIds(this.key);
    const columns = [
      ...(ids === null ? [] : [{ column: this.key!, value: ids }]),
      ...(geometry === null ? [] : [{ column: this.geometry!.column, value: geometry }]),
      ...this.places.map((place) => ({ column: place.column, value: this.valueOf(place) })),
    ];
    const into = columns.map(({ column }) => quoteIdentifier(column)).join(", ");
    const values = columns.map(({ value }) => value).join(", ");
    await connection.run(
      columns.length === 0
        ? `INSERT INTO ${sqlName(name)} SELECT FROM pg_temp.${this.staging}`
        : // Ids are kept where the table would give them itself (GENERATED ALWAYS).
          `INSERT INTO ${sqlName(name)} (${into}) OVERRIDING SYSTEM VALUE SELECT ${values} FROM pg_temp.${this.staging} ORDER BY ctid`,
    );
    if (ids !== null) await this.moveSequence(this.key!);
    await connection.run(`DROP TABLE pg_temp.${this.staging}`);
  }

  /** @throws unsupported where rows of other tables refer to those that are there */
  private async empty(sql: string): Promise<void> {
    try {
      await this.task.connection.run(sql);
    } catch (error) {
      if (sqlStateOf(error) !== "0A000") throw error;
      throw this.refused(`cannot be replaced: ${(error as { detail?: string }).detail ?? (error as Error).message}`);
    }
  }

  /** A length that is declared is not cast to, since a cast cuts what an assignment refuses. */
  private valueOf({ staged, declared }: ColumnMapping): string {
    if (declared === null || /^(character|bit)/.test(declared)) return staged;
    return `${staged}::${declared}`;
  }

  /** Values that do not come back as they were. @throws output-failed where one is nothing that the column takes */
  private async countChanged({ staged, stagedType, declared, column, field }: ColumnMapping): Promise<void> {
    const { connection, context, output, name } = this.task;
    // What is written another way is no other value there.
    if (declared === null || /^(character|text|jsonb?|real|uuid|citext)/.test(declared)) return;
    try {
      const [row] = await connection.rows<{ changed: number }>(
        `SELECT count(*) AS changed FROM pg_temp.${this.staging}
         WHERE ${staged} IS NOT NULL AND ${staged}::${declared}::${stagedType} IS DISTINCT FROM ${staged}`,
      );
      const example = `values became others in the column's type ${declared}`;
      if (row!.changed > 0) context.reportLoss("value-changed", field, example, row!.changed);
    } catch (error) {
      const what = `the column "${column}" of "${name.table}" is ${declared}`;
      throw createError("output-failed", { output, reason: `${what}: ${(error as Error).message}` }, error);
    }
  }

  /** The geometry as the column wants it: its system, dimensions and multi form. */
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

  /** Gives those a number that have none, or one that is taken. @returns what is inserted; null for what the table gives */
  private async settleIds(key: string): Promise<string | null> {
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
