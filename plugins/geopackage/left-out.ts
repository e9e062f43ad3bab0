/** What a GeoPackage has beside its layers, or a layer beside its rows, that no conversion carries. */
import type { LeftOut } from "../../src/model/index.js";
import { parseCreateTable } from "./create-table.js";
import type { Database, SchemaEntry } from "./database.js";
import { documentsLeftOut, type MetadataRecords, type TableRow } from "./layer-metadata.js";
import type { LayerPlan } from "./layer-plan.js";
import { systemNames } from "./system-tables.js";

/** So many names are said. */
const mostNames = 5;

function named(names: readonly string[]): string {
  const first = names.slice(0, mostNames).map((name) => `"${name}"`);
  return names.length > mostNames ? `${first.join(", ")} and ${names.length - mostNames} more` : first.join(", ");
}

const plural = (names: readonly string[], word: string): string => (names.length === 1 ? word : `${word}s`);

/** Triggers that keep an R-tree, a count or a table about tables: writers make their own. */
const ownTriggers = /^(rtree_|trigger_(insert|delete)_feature_count_|gpkg_)/i;
/** Extensions that readers and writers know, or that have their own words. */
const knownExtensions =
  /^(gpkg_(rtree_index|schema|metadata|crs_wkt.*|geom_.*|related_tables)|related_tables|gdal_aspatial)$/i;

/** Tables with rows that are no layers: tiles, and tables that the file does not register. */
async function tablesLeftOut(
  database: Database,
  schema: ReadonlyMap<string, SchemaEntry>,
  layers: ReadonlySet<string>,
  contents: readonly TableRow[],
): Promise<LeftOut[]> {
  const nameOf = (row: TableRow) => String(row.get("table_name") ?? "");
  const typeOf = (row: TableRow) => String(row.get("data_type") ?? "").toLowerCase();
  const others = contents.filter((row) => !["features", "attributes", "aspatial"].includes(typeOf(row)));
  const registered = new Set(contents.map((row) => nameOf(row).toLowerCase()));
  const unlisted: string[] = [];
  const views: string[] = [];
  // The tables that a virtual table keeps its rows in are called after it.
  const virtual = [...schema.values()].filter((entry) => entry.type === "table" && entry.root === 0);
  const isShadow = (name: string) => virtual.some((entry) => name.startsWith(`${entry.name}_`));
  for (const entry of schema.values()) {
    const key = entry.name.toLowerCase();
    if (layers.has(key) || registered.has(key) || systemNames.test(entry.name)) continue;
    if (entry.type === "view") views.push(entry.name);
    else if (entry.root > 0 && !isShadow(entry.name) && (await database.mayHaveRows(entry))) unlisted.push(entry.name);
  }
  const tiles = others.map(nameOf);
  const types = [...new Set(others.map(typeOf))].join(", ");
  const found: LeftOut[] = [];
  if (tiles.length > 0) found.push(lost("table-left-out", tiles.length, `${named(tiles)}: no features (${types})`));
  if (unlisted.length > 0) {
    const example = `${named(unlisted)}: not in gpkg_contents, although it lists tables without geometry`;
    found.push(lost("table-left-out", unlisted.length, example));
  }
  if (views.length > 0) {
    const example = `the ${plural(views, "view")} ${named(views)}, not in gpkg_contents`;
    found.push(note("structure-left-out", views.length, example));
  }
  return found;
}

const lost = (code: string, count: number, example: string): LeftOut => ({ kind: "loss", code, count, example });
const note = (code: string, count: number, example: string, layer?: string): LeftOut => ({
  kind: "note",
  code,
  count,
  example,
  ...(layer !== undefined && { layer }),
});

/** Rules, triggers, indexes and the SQL of a layer. */
function structureOf(
  plan: LayerPlan,
  entry: SchemaEntry,
  attached: Awaited<ReturnType<Database["attached"]>>,
): LeftOut[] {
  const rules = entry.type === "table" ? (parseCreateTable(entry.sql)?.rules ?? []) : [];
  const own = attached.filter(({ table }) => table.toLowerCase() === entry.name.toLowerCase());
  const of = (type: string) => own.flatMap((each) => (each.type === type ? [each.name] : []));
  const triggers = of("trigger").filter((name) => !ownTriggers.test(name));
  const indexes = of("index");
  const kinds = [
    ...(entry.type === "view" ? ["the SQL of the view, which is read as a table"] : []),
    ...(rules.length > 0 ? [`the rules of its columns (${rules.join(", ")})`] : []),
    ...(triggers.length > 0 ? [`the ${plural(triggers, "trigger")} ${named(triggers)}`] : []),
    ...(indexes.length > 0 ? [`the ${indexes.length === 1 ? "index" : "indexes"} ${named(indexes)}`] : []),
  ];
  return kinds.map((what) => note("structure-left-out", 1, what, plan.name));
}

/** One entry for all that has the same code, with what each says. */
function joined(found: readonly LeftOut[]): LeftOut[] {
  const entries = new Map<string, LeftOut>();
  for (const each of found) {
    const key = `${each.code} ${each.layer ?? ""}`;
    const known = entries.get(key);
    const example = known ? `${known.example}; ${each.example}` : each.example;
    entries.set(key, { ...each, count: each.count + (known?.count ?? 0), example });
  }
  return [...entries.values()];
}

/** Reads the first page of each table that is no layer, and no rows. */
export async function leftOutOf(
  database: Database,
  schema: ReadonlyMap<string, SchemaEntry>,
  plans: readonly LayerPlan[],
  said: MetadataRecords,
  records: (name: string) => Promise<readonly TableRow[]>,
): Promise<LeftOut[]> {
  const layers = new Set(plans.map(({ table }) => table.toLowerCase()));
  const found = await tablesLeftOut(database, schema, layers, said.contents);
  const documents = documentsLeftOut([...layers], said);
  if (documents > 0) {
    const example = "documents of gpkg_metadata about single rows, or about no layer, have no place in a layer";
    found.push(lost("metadata-left-out", documents, example));
  }
  const attached = await database.attached();
  for (const plan of plans) found.push(...structureOf(plan, schema.get(plan.table.toLowerCase())!, attached));
  const relations = (await records("gpkgext_relations")).length;
  if (relations > 0) found.push(note("structure-left-out", relations, "relations between tables (gpkgext_relations)"));
  const extensions = (await records("gpkg_extensions"))
    .map((row) => String(row.get("extension_name") ?? ""))
    .filter((name) => !knownExtensions.test(name));
  const names = [...new Set(extensions)];
  if (names.length > 0) {
    found.push(note("structure-left-out", names.length, `the ${plural(names, "extension")} ${named(names)}`));
  }
  return joined(found);
}
