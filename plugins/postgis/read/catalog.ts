import type { ReadContext } from "../../../src/plugin/index.js";
import { quoteIdentifier } from "../../shared/sql-identifiers.js";
import { geometryModifier, isGeometry, readingOf, TypeCatalog, type TypeInfo } from "../column-types.js";
import type { Connection } from "../connection/connection.js";
import type { ReadOptions } from "../reader.js";
import { findPostgisSchema, readSystems } from "../systems.js";
import type { ColumnPlan, LayerPlan } from "./layer-plan.js";

/** A table, view or similar relation of the catalog. */
interface Relation {
  readonly oid: number;
  readonly schema: string;
  readonly name: string;
  /** r: table, v: view, m: materialized view, f: foreign table, p: partitioned table (pg_class.relkind). */
  readonly kind: string;
  readonly isCurrent: boolean;
  readonly bytes: number | null;
  readonly blockSize: number;
  readonly isChild: boolean;
  readonly hasChildren: boolean;
  readonly isHeap: boolean;
  /** The column of a single-column primary key. */
  readonly key: string | null;
}

interface NamedColumn {
  readonly name: string;
  readonly type: number;
  readonly modifier: number;
  readonly readable: boolean;
}

/**
 * All readable relations with rows, except those of extensions, such as spatial_ref_sys. Skips
 * pg_relation_size for tables that are locked for rewriting: it would wait for them.
 */
const relationsSql = `
  SELECT c.oid::int8 AS oid, n.nspname AS schema, c.relname AS name, c.relkind AS kind,
         coalesce(n.nspname = current_schema(), false) AS "isCurrent",
         CASE WHEN c.relkind IN ('r', 'm') AND c.oid NOT IN (
           SELECT relation FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation IS NOT NULL
         ) THEN pg_relation_size(c.oid) END AS bytes,
         current_setting('block_size')::int AS "blockSize",
         c.relispartition OR EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid) AS "isChild",
         c.relhassubclass AS "hasChildren",
         coalesce(a.amname, '') = 'heap' AS "isHeap",
         (SELECT k.attname FROM pg_index i JOIN pg_attribute k ON k.attrelid = c.oid AND k.attnum = i.indkey[0]
          WHERE i.indrelid = c.oid AND i.indisprimary AND i.indnkeyatts = 1) AS key
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_am a ON a.oid = c.relam
  WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    AND has_schema_privilege(n.oid, 'USAGE')
    AND NOT EXISTS (SELECT FROM pg_depend d
                    WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  ORDER BY "isCurrent" DESC, n.nspname COLLATE "C", c.relname COLLATE "C"`;

const columnsSql = `
  SELECT attrelid::int8 AS relation, attname AS name, atttypid::int8 AS type, atttypmod AS modifier,
         has_column_privilege(attrelid, attnum, 'SELECT') AS readable
  FROM pg_attribute WHERE attrelid = ANY($1::oid[]) AND attnum > 0 AND NOT attisdropped ORDER BY attrelid, attnum`;

interface CatalogContext {
  readonly connection: Connection;
  readonly options: ReadOptions;
  readonly context: ReadContext;
  readonly types: TypeCatalog;
  readonly postgis: string | null;
}

/** Plans every layer of the database, or the one of a query. */
export async function readLayerPlans(
  connection: Connection,
  options: ReadOptions,
  context: ReadContext,
): Promise<LayerPlan[]> {
  const postgis = await findPostgisSchema(connection);
  const all: CatalogContext = { connection, options, context, types: new TypeCatalog(connection), postgis };
  const plans = options.sql === undefined ? await planTables(all) : [await planQuery(all, options.sql)];
  return resolveCrs(all, plans);
}

async function planTables(all: CatalogContext): Promise<LayerPlan[]> {
  const { connection, types, context } = all;
  const relations = await connection.rows<Relation>(relationsSql);
  const columns = await connection.rows<NamedColumn & { readonly relation: number }>(
    columnsSql,
    relations.map(({ oid }) => oid),
  );
  await types.load(columns.map(({ type }) => type));
  const byRelation = new Map<number, NamedColumn[]>();
  for (const column of columns) {
    const known = byRelation.get(column.relation);
    if (known) known.push(column);
    else byRelation.set(column.relation, [column]);
  }
  const current = new Set(relations.filter(({ isCurrent }) => isCurrent).map(({ name }) => name));
  const plans: LayerPlan[] = [];
  for (const relation of relations) {
    const named = byRelation.get(relation.oid) ?? [];
    const readable = named.filter((column) => column.readable);
    const geometric = named.some(({ type, modifier }) => isGeometry(types.typeOf(type, modifier)));
    const whole = `${relation.schema}.${relation.name}`;
    if (geometric && readable.length < named.length) {
      const which = readable.length === 0 ? whole : `some columns of ${whole}`;
      context.reportNotice("layer-forbidden", undefined, `this user may not read ${which}`);
    }
    plans.push(createLayerPlan(all, relation, readable, current));
  }
  return plans;
}

function createLayerPlan(
  all: CatalogContext,
  relation: Relation,
  columns: readonly NamedColumn[],
  current: Set<string>,
): LayerPlan {
  const { schema, name, kind, bytes, blockSize } = relation;
  const whole = `${schema}.${name}`;
  const own = relation.isCurrent
    ? name
    : current.has(whole)
      ? `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`
      : whole;
  const from = `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
  const named = columns.map((column) => ({ ...column, expression: quoteIdentifier(column.name) }));
  const plan = assignColumns(all, named, relation.key);
  // Columns without permission are selected too if none is readable, so that the server reports the error.
  const isPaged =
    (kind === "r" || kind === "m") && relation.isHeap && !relation.hasChildren && columns.length > 0 && bytes !== null;
  return {
    name: own,
    aliases: relation.isCurrent && !current.has(whole) ? [whole] : [],
    explicitOnly: plan.geometry === null || relation.isChild || columns.length === 0,
    from,
    ...plan,
    crs: null,
    // PostgreSQL 14 and later seek to a range of pages (TID range scan).
    pages: isPaged && all.connection.version >= 140000 ? Math.ceil((bytes ?? 0) / blockSize) : null,
    bytes: bytes ?? 0,
    isEmpty: (kind === "r" || kind === "m") && bytes === 0 && !relation.hasChildren,
  };
}

/** Parses the query alone first, so that it cannot close the statement it is embedded in. */
async function planQuery(all: CatalogContext, sql: string): Promise<LayerPlan> {
  const { connection, types } = all;
  const inner = `(${sql.trim().replace(/;\s*$/, "")}\n)`;
  const described = await connection.withRollback(() =>
    connection.client.query({ text: `SELECT * FROM ${inner} AS q LIMIT 0`, queryMode: "extended" } as { text: string }),
  );
  await types.load(described.fields.map(({ dataTypeID }) => dataTypeID));
  // Aliases, since columns of a query may share a name.
  const places = described.fields.map((_, n) => `c${n}`);
  const named = described.fields.map(({ name, dataTypeID, dataTypeModifier }, n) => ({
    name,
    type: dataTypeID,
    modifier: dataTypeModifier,
    readable: true,
    expression: quoteIdentifier(places[n]!),
  }));
  const list = places.length === 0 ? "" : `(${places.map(quoteIdentifier).join(", ")})`;
  return {
    name: "query",
    aliases: [],
    explicitOnly: false,
    from: `${inner} AS q${list}`,
    ...assignColumns(all, named, null),
    crs: null,
    pages: null,
    bytes: 0,
    isEmpty: false,
  };
}

type ExpressedColumn = NamedColumn & { readonly expression: string };

/** Assigns the geometry, the id and the fields. */
function assignColumns(
  { options, types }: CatalogContext,
  columns: readonly ExpressedColumn[],
  key: string | null,
): Pick<LayerPlan, "columns" | "id" | "geometry"> {
  const facts = new Map<ExpressedColumn, TypeInfo>(
    columns.map((each) => [each, types.typeOf(each.type, each.modifier)]),
  );
  const geometries = columns.filter((column) => isGeometry(facts.get(column)!));
  const geometry = geometries.find(({ name }) => name === options.geometry) ?? geometries[0];
  const reading = (column: ExpressedColumn) => {
    const { expression, ...found } = readingOf(facts.get(column)!, options.numeric);
    return { ...found, expression: expression.replace("@", () => column.expression) };
  };
  const wanted = options.id ?? key;
  const idColumn = columns.find((column) => column.name === wanted && column !== geometry);
  const id = idColumn && reading(idColumn);
  const takesId = id && (options.id !== undefined || id.type === "int32" || id.type === "int64");
  const taken = new Set<string>();
  const plans: ColumnPlan[] = [];
  for (const column of columns) {
    if (column === geometry || (takesId && column === idColumn)) continue;
    let name = column.name;
    for (let n = 1; taken.has(name); n++) name = `${column.name}_${n}`;
    taken.add(name);
    if (geometries.includes(column)) {
      const expression = `${column.expression}::bytea`;
      plans.push({ name, type: "binary", wire: "bytes", expression });
    } else plans.push({ name, ...reading(column) });
  }
  const modifier = geometry && geometryModifier(facts.get(geometry)!);
  return {
    columns: plans,
    id: takesId ? { expression: id.expression, wire: id.wire, type: id.type } : null,
    geometry: geometry
      ? { column: geometry.name, expression: geometry.expression, srid: modifier!.srid, type: modifier!.type }
      : null,
  };
}

/** Timeout for reading one geometry of a view. */
const viewTimeoutMs = 5000;

/** Adds CRS to the plans: from the declared SRID, else from the first geometry. */
async function resolveCrs(all: CatalogContext, plans: readonly LayerPlan[]): Promise<LayerPlan[]> {
  const { connection, postgis, context } = all;
  if (postgis === null) return [...plans];
  const known: LayerPlan[] = [];
  for (const plan of plans) known.push(plan.geometry?.srid === 0 ? await resolveFirstSrid(all, plan, postgis) : plan);
  const srids = known.flatMap(({ geometry }) => (geometry ? [geometry.srid] : []));
  const systems = await readSystems(connection, postgis, [...new Set(srids)], context);
  return known.map((plan) => (plan.geometry ? { ...plan, crs: systems.get(plan.geometry.srid) ?? null } : plan));
}

async function resolveFirstSrid(
  { connection, context }: CatalogContext,
  plan: LayerPlan,
  postgis: string,
): Promise<LayerPlan> {
  const { expression } = plan.geometry!;
  try {
    const [row] = await connection.withRollback(async () => {
      // Waits for the locks of other sessions, as the reading does: only the time of the query itself is limited.
      await connection.rows(`SELECT FROM ${plan.from} LIMIT 0`);
      await connection.run(`SET LOCAL statement_timeout = ${viewTimeoutMs}`);
      return connection.rows<{ srid: number }>(
        `SELECT ${quoteIdentifier(postgis)}.st_srid(${expression}::${quoteIdentifier(postgis)}.geometry) AS srid FROM ${plan.from}
         WHERE ${expression} IS NOT NULL LIMIT 1`,
      );
    });
    return { ...plan, geometry: { ...plan.geometry!, srid: row?.srid ?? 0 } };
  } catch (error) {
    const example = `the CRS of ${plan.name} is unknown: ${(error as Error).message}`;
    context.reportNotice("crs-unreadable", undefined, example);
    return plan;
  }
}
