import type { FileMetaData, SchemaElement } from "hyparquet";
import { type Crs, type Extent, type Field, uniqueName } from "../../../src/model/index.js";
import { createError, type OptionValues, type ReadContext, type Source } from "../../../src/plugin/index.js";
import type { readOptions } from "../index.js";
import type { ChunkPlace } from "../parquet/column-pages.js";
import { buildSchema, type Leaf, leavesOf, type SchemaNode } from "../parquet/schema.js";
import { decodingOf, unknownFacts, type ValueFacts } from "./field-decoding.js";
import { type GeoColumn, type GeoMetadata, readGeoMetadata, readLogicalCrs, readProjJson } from "./geo-metadata.js";
import {
  type ColumnRange,
  type FieldPlan,
  type GeometryPlan,
  type GroupPlan,
  type NativeEncoding,
  nativeEncodings,
  type ParquetPlan,
} from "./plan.js";

type Options = OptionValues<typeof readOptions>;

/** Names that a column of WKB has in files without metadata. */
const usualGeometryNames = ["geometry", "geom", "wkb_geometry", "the_geom", "wkb", "shape"];

const isGeoType = ({ logical_type: logical }: SchemaElement): boolean =>
  logical?.type === "GEOMETRY" || logical?.type === "GEOGRAPHY";

/** The columns with geometry, the one to read first. */
interface GeometryColumns {
  readonly chosen: SchemaNode | null;
  readonly others: readonly SchemaNode[];
}

/** @throws input-corrupt, unsupported, option-invalid */
export async function makePlan(
  source: Source,
  metadata: FileMetaData,
  options: Options,
  context: ReadContext,
): Promise<ParquetPlan> {
  const root = buildSchema(metadata.schema);
  const notice = (example: string) => context.reportNotice("metadata-unreadable", undefined, example);
  const geo = readGeoMetadata(metadata, notice);
  const { chosen, others } = findGeometry(root, geo, options, context);
  for (const { path } of others) {
    const example = `a feature has one geometry; "${chosen?.path[0]}" was read, and --in geometry=${path[0]} reads this one`;
    context.reportLoss("geometry-column-left-out", path[0], example);
  }
  const column = chosen ? geo?.columns.get(chosen.path[0]!) : undefined;
  const geometry = chosen && planGeometry(source, chosen, column);
  const coverings = findCoverings(root, geo, chosen);
  const left = new Set([chosen, ...others, ...coverings.nodes].map((node) => node?.path[0]));
  const nodes = root.children.filter(({ path }) => !left.has(path[0]));
  context.onFieldCount?.(nodes.length);
  const leafCount = leavesOf(root).length;
  checkGroups(metadata, leafCount);
  const fields = planFields(source, metadata, nodes, context);
  const needed = new Set(
    [...(geometry?.leaves ?? []), ...fields.flatMap(({ leaves }) => leaves)].map((leaf) => leaf.column),
  );
  const groups = metadata.row_groups.map((_, group) =>
    planGroup(source, metadata, group, needed, coverings.leaves, geometry),
  );
  return {
    name: source.name.replace(/^.*[\\/]/, "").replace(/\.[^.]+$/, ""),
    crs: await readCrs(metadata, chosen, column, context),
    geometry,
    fields,
    groups,
    rows: groups.reduce((sum, { rows }) => sum + rows, 0),
  };
}

function findGeometry(
  root: SchemaNode,
  geo: GeoMetadata | null,
  options: Options,
  context: ReadContext,
): GeometryColumns {
  const find = (name: string) => root.children.find(({ path }) => path[0] === name) ?? null;
  const known = root.children.filter((node) => isGeoType(node.element) || geo?.columns.has(node.path[0]!));
  const others = (chosen: SchemaNode) => known.filter((node) => node !== chosen);
  if (options.geometry !== undefined) {
    const chosen = find(options.geometry);
    const expected = `a column of the file, as ${root.children.map(({ path }) => path[0]).join(", ")} are`;
    if (!chosen) throw createError("option-invalid", { option: "geometry", value: options.geometry, expected });
    return { chosen, others: others(chosen) };
  }
  const primary = geo && find(geo.primary);
  const chosen = primary ?? known[0];
  if (geo && !primary)
    context.reportNotice(
      "metadata-unreadable",
      undefined,
      `the file has no column "${geo.primary}", which its metadata names`,
    );
  if (chosen) return { chosen, others: others(chosen) };
  const plain = usualGeometryNames
    .map((name) => root.children.find(({ path }) => path[0]!.toLowerCase() === name))
    .find((node) => node?.leaf?.physical === "BYTE_ARRAY" && decodingOf(node.element, unknownFacts).type === "binary");
  if (!plain) return { chosen: null, others: [] };
  const example = `the file is Parquet without the metadata of GeoParquet; the column "${plain.path[0]}" was read as WKB`;
  context.reportNotice("geometry-undeclared", undefined, example);
  return { chosen: plain, others: [] };
}

function planGeometry(source: Source, node: SchemaNode, column: GeoColumn | undefined): GeometryPlan {
  const name = node.path[0]!;
  const encoding = column?.encoding ?? "wkb";
  const unsupported = (reason: string) =>
    createError("unsupported", { source: source.name, reason: `its geometry column "${name}" ${reason}` });
  if (encoding === "wkb") {
    if (node.leaf?.physical !== "BYTE_ARRAY") throw unsupported("is not WKB, as declared");
    return { name, encoding, leaves: [node.leaf], dimensions: [], levels: { geometry: node.definition, lists: [] } };
  }
  if (!Object.hasOwn(nativeEncodings, encoding)) throw unsupported(`has the encoding ${encoding}, which is unknown`);
  const leaves = leavesOf(node);
  const dimensions = leaves.map(({ path }) => path.at(-1)!);
  const depth = { point: 0, linestring: 1, multipoint: 1, polygon: 2, multilinestring: 2, multipolygon: 3 };
  const isExpected =
    ["x,y", "x,y,z", "x,y,m", "x,y,z,m"].includes(dimensions.join()) &&
    leaves.every(
      ({ physical, maxRepetition }) => physical === "DOUBLE" && maxRepetition === depth[encoding as NativeEncoding],
    );
  if (!isExpected)
    throw unsupported(`does not have the structure of the encoding ${encoding}, with fields x and y of type double`);
  return { name, encoding: encoding as NativeEncoding, leaves, dimensions, levels: levelsOf(node) };
}

function levelsOf(node: SchemaNode): GeometryPlan["levels"] {
  const lists: number[] = [];
  for (let at: SchemaNode | undefined = node; at; at = at.children[0])
    if (at.element.repetition_type === "REPEATED") lists.push(at.definition);
  return { geometry: node.definition, lists };
}

const boxSides = ["xmin", "ymin", "xmax", "ymax"];

/** The columns that cover geometries, which are no attributes; the leaves of those of the geometry that is read. */
function findCoverings(root: SchemaNode, geo: GeoMetadata | null, chosen: SchemaNode | null) {
  const nodes: SchemaNode[] = [];
  const byPath = new Map(leavesOf(root).map((leaf) => [leaf.path.join("\0"), leaf]));
  let leaves: Leaf[] = [];
  for (const [name, { covering }] of geo?.columns ?? []) {
    const found = covering?.map((path) => byPath.get(path.join("\0")));
    if (!found?.every((leaf) => leaf !== undefined && leaf.path.length > 1)) continue;
    nodes.push(...root.children.filter(({ path }) => found.some((leaf) => leaf!.path[0] === path[0])));
    if (name === chosen?.path[0]) leaves = found as Leaf[];
  }
  // Files of GeoParquet 1.0 have the same column without a declaration.
  const usual = chosen && root.children.find(({ path }) => path[0] === "bbox" || path[0] === `${chosen.path[0]}_bbox`);
  if (leaves.length === 0 && usual && !usual.leaf) {
    const found = boxSides.map((side) => usual.children.find(({ path }) => path[1] === side)?.leaf ?? null);
    if (usual.children.every(({ leaf, path }) => leaf && /^[xyzm](min|max)$/.test(path[1]!)) && found.every(Boolean)) {
      nodes.push(usual);
      leaves = found as Leaf[];
    }
  }
  return { nodes, leaves };
}

function checkGroups(metadata: FileMetaData, leafCount: number): void {
  for (const { columns, num_rows: rows } of metadata.row_groups) {
    if (columns.length !== leafCount) throw new Error("a row group has another number of columns than the schema");
    if (!(rows >= 0n && rows <= BigInt(Number.MAX_SAFE_INTEGER))) throw new Error("a row group has no number of rows");
  }
}

/** What the statistics of all row groups say about a column. */
function valueFacts(metadata: FileMetaData, leaf: Leaf): ValueFacts {
  let exceedsInt64 = false;
  let digits: number | null = 0;
  const { logical_type: logical, scale: ownScale } = leaf.element;
  const scale = logical?.type === "DECIMAL" ? logical.scale : (ownScale ?? 0);
  for (const { columns } of metadata.row_groups) {
    const { statistics, num_values: count } = columns[leaf.column]!.meta_data ?? {};
    if (statistics?.null_count !== undefined && statistics.null_count === count) continue;
    const [least, most] = [statistics?.min_value, statistics?.max_value];
    if (!(typeof most === "bigint" && most < 2n ** 63n)) exceedsInt64 = true;
    // A rounded number: one digit more is allowed for.
    const isKnown = typeof least === "number" && typeof most === "number";
    const largest = isKnown ? Math.max(Math.abs(least), Math.abs(most)) * 10 ** scale : Number.POSITIVE_INFINITY;
    digits =
      digits === null || !Number.isFinite(largest) ? null : Math.max(digits, Math.ceil(Math.log10(largest * 1.01 + 1)));
  }
  return { exceedsInt64, digits };
}

function planFields(
  source: Source,
  metadata: FileMetaData,
  nodes: readonly SchemaNode[],
  context: ReadContext,
): FieldPlan[] {
  const names = new Set<string>();
  const plans: FieldPlan[] = [];
  for (const node of nodes) {
    const leaves = leavesOf(node);
    const path = node.path[0]!;
    if (leaves.length === 0 || node.element.logical_type?.type === "VARIANT") {
      context.reportLoss("field-left-out", path, `${source.name}: the type of this column is not supported`);
      continue;
    }
    const name = uniqueName(path, names);
    names.add(name);
    if (node.leaf && node.leaf.maxRepetition === 0) {
      const { type, decoding, note } = decodingOf(node.element, valueFacts(metadata, node.leaf));
      if (note !== undefined) context.reportNotice("number-as-text", name, note);
      const scale = type === "double" && decoding.kind === "decimal" ? decoding.scale : undefined;
      const field: Field = { name, type, ...(scale === undefined ? {} : { decimals: scale }) };
      plans.push({ field, decoding, node, leaves });
    } else plans.push({ field: { name, type: "json" }, decoding: null, node, leaves });
  }
  return plans;
}

const toOffset = (value: bigint | number | undefined): number => Number(value ?? 0);

function planChunk(source: Source, metadata: FileMetaData, group: number, leaf: number): ChunkPlace {
  const chunk = metadata.row_groups[group]!.columns[leaf]!;
  const data = chunk.meta_data;
  const unsupported = (reason: string) => createError("unsupported", { source: source.name, reason });
  if (chunk.crypto_metadata) throw unsupported("its columns are encrypted");
  if (chunk.file_path) throw unsupported(`its columns are in another file, ${chunk.file_path}`);
  if (!data) throw new Error("a row group has no description of a column");
  const dictionary = toOffset(data.dictionary_page_offset);
  const first = toOffset(data.data_page_offset);
  const from = dictionary > 0 && dictionary < first ? dictionary : first;
  const to = from + toOffset(data.total_compressed_size);
  const count = toOffset(data.num_values);
  if (!(from >= 4 && to >= from && count >= 0)) throw new Error("the place of a column is wrong");
  return { codec: data.codec, from, to, count };
}

function rangeOf(metadata: FileMetaData, group: number, leaf: number): ColumnRange | null {
  const statistics = metadata.row_groups[group]!.columns[leaf]?.meta_data?.statistics;
  const [least, greatest] = [statistics?.min_value, statistics?.max_value];
  return least === undefined || greatest === undefined || least === null || greatest === null
    ? null
    : { least, greatest };
}

function planGroup(
  source: Source,
  metadata: FileMetaData,
  group: number,
  needed: ReadonlySet<number>,
  covering: readonly Leaf[],
  geometry: GeometryPlan | null,
): GroupPlan {
  const { columns, num_rows } = metadata.row_groups[group]!;
  const rows = Number(num_rows);
  const chunks = columns.map((_, leaf) =>
    rows > 0 && needed.has(leaf) ? planChunk(source, metadata, group, leaf) : null,
  );
  return {
    rows,
    bytes: chunks.reduce((sum, chunk) => sum + (chunk ? chunk.to - chunk.from : 0), 0),
    chunks,
    ranges: columns.map((_, leaf) => (needed.has(leaf) ? rangeOf(metadata, group, leaf) : null)),
    extent: groupExtent(metadata, group, covering, geometry),
  };
}

/** Bounds of the geometries of a row group; null if the file has no statistics about them. */
function groupExtent(
  metadata: FileMetaData,
  group: number,
  covering: readonly Leaf[],
  geometry: GeometryPlan | null,
): Extent | null {
  const numbers = (values: readonly unknown[]): Extent | null =>
    values.length === 4 && values.every((value) => typeof value === "number" && !Number.isNaN(value))
      ? (values as unknown as Extent)
      : null;
  const statistics = (leaf: Leaf) => metadata.row_groups[group]!.columns[leaf.column]?.meta_data?.statistics;
  const box = numbers(
    covering.map((leaf, side) => (side < 2 ? statistics(leaf)?.min_value : statistics(leaf)?.max_value)),
  );
  if (box || !geometry) return box;
  if (geometry.encoding !== "wkb") {
    const [x, y] = geometry.leaves;
    const of = [statistics(x!), statistics(y!)];
    return numbers([...of.map((each) => each?.min_value), ...of.map((each) => each?.max_value)]);
  }
  const bounds =
    metadata.row_groups[group]!.columns[geometry.leaves[0]!.column]?.meta_data?.geospatial_statistics?.bbox;
  const extent = bounds ? numbers([bounds.xmin, bounds.ymin, bounds.xmax, bounds.ymax]) : null;
  // xmin > xmax: the box crosses the antimeridian.
  return extent && extent[0] <= extent[2] ? extent : null;
}

async function readCrs(
  metadata: FileMetaData,
  node: SchemaNode | null,
  column: GeoColumn | undefined,
  context: ReadContext,
): Promise<Crs | null> {
  if (!node) return null;
  const logical = node.element.logical_type;
  const isGeography = logical?.type === "GEOGRAPHY";
  if (column?.edges === "spherical" || isGeography) {
    const example =
      "its edges are great circles (or other lines on the globe); they are taken for straight lines on the map";
    context.reportNotice("edges-spherical", undefined, example);
  }
  if (column?.epoch) {
    const example = `its coordinates are of the epoch ${column.epoch}, which is not used: plates move by centimetres a year`;
    context.reportNotice("epoch-ignored", undefined, example);
  }
  if (column) return readProjJson(column.crs, context);
  if (logical?.type === "GEOMETRY" || logical?.type === "GEOGRAPHY")
    return readLogicalCrs(logical.crs ?? "", metadata, context);
  return null;
}
