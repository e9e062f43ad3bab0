import { basename, extname } from "node:path";
import type { FieldType, GeometryType as TypeName } from "../../../src/model/index.js";
import {
  type ColumnMetadata,
  geometryTypes,
  type LayerMetadata,
  type OmittedContent,
  uniqueName,
} from "../../../src/model/index.js";
import {
  createError,
  type OptionValues,
  type ReadContext,
  type Source,
  type SourceFile,
} from "../../../src/plugin/index.js";
import { kindByWkbType } from "../../shared/wkb/cursor.js";
import { declaredType } from "../header/declared-type.js";
import { FlatDamage } from "../header/flat-reader.js";
import { ColumnType, type Header, type HeaderColumn, magicBytes, majorVersion, parseHeader } from "../header/header.js";
import { treeBytes, treeLevels } from "../index/levels.js";
import type { readOptions } from "../index.js";
import type { ColumnPlan, FgbPlan, IndexPlan } from "./plan.js";
import { readCrs } from "./read-crs.js";

const sizeBytes = 4;
const headerAt = magicBytes.length + sizeBytes;

/** What is known of a file before its features are read. */
export interface OpenedFile {
  readonly plan: FgbPlan;
  readonly omitted: readonly OmittedContent[];
}

/** Reads the header. @throws input-corrupt, input-truncated, unsupported */
export async function makePlan(
  source: Source,
  file: SourceFile,
  options: OptionValues<typeof readOptions>,
  context: ReadContext,
): Promise<OpenedFile> {
  const { header, end } = await readHeader(source, file);
  context.onFieldCount?.(header.columns.length);
  const index = planIndex(source, header, end);
  const columns = planColumns(header.columns, options, context);
  const plan: FgbPlan = {
    name: header.name?.trim() || basename(source.name, extname(source.name)),
    crs: header.crs && (await readCrs(header.crs, context)),
    columns,
    geometryType: header.geometryType,
    hasZ: header.hasZ,
    hasM: header.hasM,
    geometryTypes: geometryTypesOf(header.geometryType),
    featureCount: header.featureCount,
    index,
    featuresAt: index ? index.at + treeBytes(index.levels) : end,
    metadata: metadataOf(header, columns),
  };
  return { plan, omitted: omittedContent(header, columns) };
}

async function readHeader(source: Source, file: SourceFile): Promise<{ header: Header; end: number }> {
  const start = await file.read(0, headerAt);
  const { name } = source;
  if (start.length < headerAt)
    throw createError("input-truncated", { source: name, place: { byte: start.length }, reason: "within its header" });
  if (start[3] !== majorVersion)
    throw createError("unsupported", { source: name, reason: `it is FlatGeobuf ${start[3]}; version 3 is supported` });
  const size = start.readUInt32LE(magicBytes.length);
  const end = headerAt + size;
  if (end > file.size) {
    const reason = `its header has ${size} bytes`;
    throw createError("input-truncated", { source: name, place: { byte: file.size }, reason });
  }
  try {
    return { header: parseHeader(await file.read(headerAt, size)), end };
  } catch (error) {
    if (!(error instanceof FlatDamage)) throw error;
    const reason = `its header is damaged: ${error.message}`;
    throw createError("input-corrupt", { source: name, place: { byte: headerAt }, reason }, error);
  }
}

function planIndex(source: Source, { featureCount, nodeSize }: Header, at: number): IndexPlan | null {
  if (featureCount === 0 || nodeSize === 0) return null;
  const levels = treeLevels(featureCount, nodeSize);
  if (at + treeBytes(levels) <= source.size) return { at, nodeSize, levels };
  const reason = `an index of ${featureCount} features and the features follow`;
  throw createError("input-truncated", { source: source.name, place: { byte: source.size }, reason });
}

const fieldTypeOf: readonly FieldType[] = [
  "int32",
  "int32",
  "boolean",
  "int32",
  "int32",
  "int32",
  "int64",
  "int64",
  "int64",
  "double",
  "double",
  "text",
  "json",
  "datetime",
  "binary",
];

function planColumns(
  columns: readonly HeaderColumn[],
  { unsigned }: OptionValues<typeof readOptions>,
  context: ReadContext,
): ColumnPlan[] {
  const taken = new Set<string>();
  return columns.map((column, n) => {
    const { type } = column;
    const given = column.name === "" ? `field_${n + 1}` : column.name;
    const name = uniqueName(given, taken);
    taken.add(name);
    if (column.name === "")
      context.reportNotice("name-missing", undefined, `column ${n + 1} has no name; it is ${name}`);
    else if (name !== given) context.reportNotice("name-duplicate", undefined, `a second column ${given} is ${name}`);
    const fieldType = type === ColumnType.ulong ? unsigned : (declaredType(column) ?? fieldTypeOf[type]!);
    return { type, field: { name, type: fieldType } };
  });
}

/** What all features are, if the header says so; curves become lines. */
function geometryTypesOf(type: number): TypeName[] | null {
  const name = geometryTypes[kindByWkbType[type] ?? 0];
  return name ? [name] : null;
}

function metadataOf({ title, description, metadata, columns }: Header, plans: readonly ColumnPlan[]): LayerMetadata {
  const described = columns.flatMap((column, n): ColumnMetadata[] => {
    const own = {
      ...(column.title && { title: column.title }),
      ...(column.description && { description: column.description }),
    };
    return Object.keys(own).length > 0 ? [{ column: plans[n]!.field.name, ...own }] : [];
  });
  return {
    ...(title && { title }),
    ...(description && { description }),
    ...(metadata && {
      documents: [{ scope: "dataset", standard: "", mediaType: mediaTypeOf(metadata), text: metadata }],
    }),
    ...(described.length > 0 && { columns: described }),
  };
}

/** The specification suggests JSON. */
function mediaTypeOf(text: string): string {
  try {
    JSON.parse(text);
    return "application/json";
  } catch {
    return text.trimStart().startsWith("<") ? "text/xml" : "text/plain";
  }
}

function omittedContent({ columns, hasTimes }: Header, plans: readonly ColumnPlan[]): OmittedContent[] {
  const found: OmittedContent[] = [];
  const rules = [
    describeColumns("primary key", columns, plans, ({ primaryKey }) => primaryKey),
    describeColumns("columns that are declared unique", columns, plans, ({ unique }) => unique),
    describeColumns("columns that are declared not nullable", columns, plans, ({ nullable }) => !nullable),
  ].filter((rule) => rule !== null);
  if (rules.length > 0)
    found.push({ kind: "note", code: "structure-left-out", count: rules.length, example: rules.join("; ") });
  if (hasTimes) {
    const example = "times of positions (dimensions T and TM) are not read";
    found.push({ kind: "loss", code: "t-dropped", count: 1, example });
  }
  return found;
}

const maxListedNames = 5;

/** Names the columns that have a rule; null if none has. */
function describeColumns(
  rule: string,
  columns: readonly HeaderColumn[],
  plans: readonly ColumnPlan[],
  has: (column: HeaderColumn) => boolean,
): string | null {
  const names = plans.flatMap(({ field }, n) => (has(columns[n]!) ? [`"${field.name}"`] : []));
  if (names.length === 0) return null;
  const more = names.length > maxListedNames ? ` and ${names.length - maxListedNames} more` : "";
  return `${rule}: ${names.slice(0, maxListedNames).join(", ")}${more}`;
}
