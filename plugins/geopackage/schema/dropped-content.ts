/** Finds the content of a GeoPackage that a conversion drops: tables, triggers, indexes, constraints, extensions. */
import type { OmittedContent } from "../../../src/model/index.js";
import type { LayerPlan } from "../read/layer-plan.js";
import type { Database, SchemaEntry } from "../sqlite/database.js";
import { parseCreateTable } from "./create-table.js";
import { countDroppedDocuments, type MetadataRecords, type TableRow } from "./read-metadata.js";
import { systemTableNames } from "./system-tables.js";

const maxListedNames = 5;

function listNames(names: readonly string[]): string {
  const first = names.slice(0, maxListedNames).map((name) => `"${name}"`);
  return names.length > maxListedNames
    ? `${first.join(", ")} and ${names.length - maxListedNames} more`
    : first.join(", ");
}

const plural = (names: readonly string[], word: string): string => (names.length === 1 ? word : `${word}s`);

/** Triggers that maintain an R-tree, a count or a metadata table: writers create their own. */
const generatedTriggers = /^(rtree_|trigger_(insert|delete)_feature_count_|gpkg_)/i;
/** Extensions that are supported or reported separately. */
const knownExtensions =
  /^(gpkg_(rtree_index|schema|metadata|crs_wkt.*|geom_.*|related_tables)|related_tables|gdal_aspatial)$/i;

/** Tables with rows that are not layers: tiles, and tables not in gpkg_contents. */
async function findDroppedTables(
  database: Database,
  schema: ReadonlyMap<string, SchemaEntry>,
  layers: ReadonlySet<string>,
  contents: readonly TableRow[],
): Promise<OmittedContent[]> {
  const nameOf = (row: TableRow) => String(row.get("table_name") ?? "");
  const typeOf = (row: TableRow) => String(row.get("data_type") ?? "").toLowerCase();
  const others = contents.filter((row) => !["features", "attributes", "aspatial"].includes(typeOf(row)));
  const registered = new Set(contents.map((row) => nameOf(row).toLowerCase()));
  const unlisted: string[] = [];
  const views: string[] = [];
  // Shadow tables start with the name of their virtual table.
  const virtual = [...schema.values()].filter((entry) => entry.type === "table" && entry.root === 0);
  const isShadow = (name: string) => virtual.some((entry) => name.startsWith(`${entry.name}_`));
  for (const entry of schema.values()) {
    const key = entry.name.toLowerCase();
    if (layers.has(key) || registered.has(key) || systemTableNames.test(entry.name)) continue;
    if (entry.type === "view") views.push(entry.name);
    else if (entry.root > 0 && !isShadow(entry.name) && (await database.mayHaveRows(entry))) unlisted.push(entry.name);
  }
  const tiles = others.map(nameOf);
  const types = [...new Set(others.map(typeOf))].join(", ");
  const found: OmittedContent[] = [];
  if (tiles.length > 0)
    found.push(droppedLoss("table-left-out", tiles.length, `${listNames(tiles)}: no features (${types})`));
  if (unlisted.length > 0) {
    const example = `${listNames(unlisted)}: not in gpkg_contents, although it lists tables without geometry`;
    found.push(droppedLoss("table-left-out", unlisted.length, example));
  }
  if (views.length > 0) {
    const example = `the ${plural(views, "view")} ${listNames(views)}, not in gpkg_contents`;
    found.push(droppedNotice("structure-left-out", views.length, example));
  }
  return found;
}

const droppedLoss = (code: string, count: number, example: string): OmittedContent => ({
  kind: "loss",
  code,
  count,
  example,
});
const droppedNotice = (code: string, count: number, example: string, layer?: string): OmittedContent => ({
  kind: "note",
  code,
  count,
  example,
  ...(layer !== undefined && { layer }),
});

/** Constraints, triggers, indexes and the view SQL of a layer. */
function findDroppedSchema(
  plan: LayerPlan,
  entry: SchemaEntry,
  attached: Awaited<ReturnType<Database["indexesAndTriggers"]>>,
): OmittedContent[] {
  const rules = entry.type === "table" ? (parseCreateTable(entry.sql)?.rules ?? []) : [];
  const own = attached.filter(({ table }) => table.toLowerCase() === entry.name.toLowerCase());
  const of = (type: string) => own.flatMap((each) => (each.type === type ? [each.name] : []));
  const triggers = of("trigger").filter((name) => !generatedTriggers.test(name));
  const indexes = of("index");
  const kinds = [
    ...(entry.type === "view" ? ["the SQL of the view, which is read as a table"] : []),
    ...(rules.length > 0 ? [`the rules of its columns (${rules.join(", ")})`] : []),
    ...(triggers.length > 0 ? [`the ${plural(triggers, "trigger")} ${listNames(triggers)}`] : []),
    ...(indexes.length > 0 ? [`the ${indexes.length === 1 ? "index" : "indexes"} ${listNames(indexes)}`] : []),
  ];
  return kinds.map((what) => droppedNotice("structure-left-out", 1, what, plan.name));
}

/** Merges entries of the same code and layer. */
function mergeDropped(found: readonly OmittedContent[]): OmittedContent[] {
  const entries = new Map<string, OmittedContent>();
  for (const each of found) {
    const key = `${each.code} ${each.layer ?? ""}`;
    const known = entries.get(key);
    const example = known ? `${known.example}; ${each.example}` : each.example;
    entries.set(key, { ...each, count: each.count + (known?.count ?? 0), example });
  }
  return [...entries.values()];
}

/** Reads only the first page of each table that is not a layer. */
export async function findDroppedContent(
  database: Database,
  schema: ReadonlyMap<string, SchemaEntry>,
  plans: readonly LayerPlan[],
  metadataRecords: MetadataRecords,
  records: (name: string) => Promise<readonly TableRow[]>,
): Promise<OmittedContent[]> {
  const layers = new Set(plans.map(({ table }) => table.toLowerCase()));
  const found = await findDroppedTables(database, schema, layers, metadataRecords.contents);
  const documents = countDroppedDocuments([...layers], metadataRecords);
  if (documents > 0) {
    const example = "documents of gpkg_metadata about single rows, or about no layer, have no place in a layer";
    found.push(droppedLoss("metadata-left-out", documents, example));
  }
  const attached = await database.indexesAndTriggers();
  for (const plan of plans) found.push(...findDroppedSchema(plan, schema.get(plan.table.toLowerCase())!, attached));
  const relations = (await records("gpkgext_relations")).length;
  if (relations > 0)
    found.push(droppedNotice("structure-left-out", relations, "relations between tables (gpkgext_relations)"));
  const extensions = (await records("gpkg_extensions"))
    .map((row) => String(row.get("extension_name") ?? ""))
    .filter((name) => !knownExtensions.test(name));
  const names = [...new Set(extensions)];
  if (names.length > 0) {
    found.push(
      droppedNotice("structure-left-out", names.length, `the ${plural(names, "extension")} ${listNames(names)}`),
    );
  }
  return mergeDropped(found);
}
