/** FlatGeobuf files by the npm package's own encoder, and what its reader finds in those of the plugin. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Builder, type Offset } from "flatbuffers";
import { Column } from "flatgeobuf/lib/mjs/flat-geobuf/column.js";
import { Crs } from "flatgeobuf/lib/mjs/flat-geobuf/crs.js";
import { Feature as FlatFeature } from "flatgeobuf/lib/mjs/flat-geobuf/feature.js";
import { Geometry as FlatGeometry } from "flatgeobuf/lib/mjs/flat-geobuf/geometry.js";
import { Header } from "flatgeobuf/lib/mjs/flat-geobuf/header.js";
import { deserialize } from "flatgeobuf/lib/mjs/geojson.js";
import flatgeobuf from "../../../plugins/flatgeobuf/index.js";
import type { Feature } from "../../../src/model/index.js";
import { type LayerContent, type ReadFileOptions, readFile } from "../../../src/testing/index.js";
import { hasProgram } from "../../support/command.js";

/** CI requires GDAL; elsewhere a missing GDAL prints a warning. */
export const hasOgr2ogr = hasProgram("ogr2ogr");
if (!hasOgr2ogr) {
  if (process.env.CI) throw new Error("ogr2ogr is missing, and CI must not leave its tests out");
  console.warn("NOT TESTED: ogr2ogr is missing, so nothing is compared with GDAL");
}

export function ogr2ogr(...args: readonly string[]): void {
  const { status, stderr } = spawnSync("ogr2ogr", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ogr2ogr ${args.join(" ")}: ${stderr}`);
}

export const magic = Buffer.from([0x66, 0x67, 0x62, 3, 0x66, 0x67, 0x62, 0]);

export interface ColumnSpec {
  readonly name: string;
  readonly type: number;
  readonly title?: string;
  readonly description?: string;
  readonly nullable?: boolean;
  readonly unique?: boolean;
  readonly primaryKey?: boolean;
  readonly metadata?: string;
}

export interface HeaderSpec {
  readonly name?: string;
  readonly geometryType?: number;
  readonly hasZ?: boolean;
  readonly hasM?: boolean;
  readonly hasT?: boolean;
  readonly columns?: readonly ColumnSpec[];
  readonly count?: number;
  readonly nodeSize?: number;
  readonly title?: string;
  readonly description?: string;
  readonly metadata?: string;
  readonly crs?: { readonly org?: string; readonly code?: number; readonly wkt?: string; readonly codeString?: string };
}

const text = (builder: Builder, value: string | undefined): Offset =>
  value === undefined ? 0 : builder.createString(value);

/** Magic bytes and header. */
export function headerBytes(spec: HeaderSpec): Buffer {
  const builder = new Builder();
  const columns = (spec.columns ?? []).map((column) =>
    Column.createColumn(
      builder,
      builder.createString(column.name),
      column.type,
      text(builder, column.title),
      text(builder, column.description),
      -1,
      -1,
      -1,
      column.nullable ?? true,
      column.unique ?? false,
      column.primaryKey ?? false,
      text(builder, column.metadata),
    ),
  );
  const columnsVector = Header.createColumnsVector(builder, columns);
  const { crs } = spec;
  const names = { org: text(builder, crs?.org), wkt: text(builder, crs?.wkt), code: text(builder, crs?.codeString) };
  const crsTable = crs && Crs.createCrs(builder, names.org, crs.code ?? 0, 0, 0, names.wkt, names.code);
  const texts = [spec.name, spec.title, spec.description, spec.metadata].map((each) => text(builder, each));
  Header.startHeader(builder);
  Header.addName(builder, texts[0]!);
  Header.addGeometryType(builder, spec.geometryType ?? 0);
  Header.addHasZ(builder, spec.hasZ ?? false);
  Header.addHasM(builder, spec.hasM ?? false);
  Header.addHasT(builder, spec.hasT ?? false);
  Header.addColumns(builder, columnsVector);
  Header.addFeaturesCount(builder, BigInt(spec.count ?? 0));
  Header.addIndexNodeSize(builder, spec.nodeSize ?? 0);
  if (crsTable) Header.addCrs(builder, crsTable);
  Header.addTitle(builder, texts[1]!);
  Header.addDescription(builder, texts[2]!);
  Header.addMetadata(builder, texts[3]!);
  builder.finishSizePrefixed(Header.endHeader(builder));
  return Buffer.concat([magic, builder.asUint8Array()]);
}

export interface GeometrySpec {
  readonly type?: number;
  readonly xy?: readonly number[];
  readonly z?: readonly number[];
  readonly m?: readonly number[];
  readonly ends?: readonly number[];
  readonly parts?: readonly GeometrySpec[];
}

function geometryTable(builder: Builder, spec: GeometrySpec): Offset {
  const parts = spec.parts?.map((part) => geometryTable(builder, part));
  const vectors = {
    parts: parts ? FlatGeometry.createPartsVector(builder, parts) : 0,
    xy: spec.xy ? FlatGeometry.createXyVector(builder, [...spec.xy]) : 0,
    z: spec.z ? FlatGeometry.createZVector(builder, [...spec.z]) : 0,
    m: spec.m ? FlatGeometry.createMVector(builder, [...spec.m]) : 0,
    ends: spec.ends ? FlatGeometry.createEndsVector(builder, [...spec.ends]) : 0,
  };
  FlatGeometry.startGeometry(builder);
  if (vectors.ends) FlatGeometry.addEnds(builder, vectors.ends);
  if (vectors.xy) FlatGeometry.addXy(builder, vectors.xy);
  if (vectors.z) FlatGeometry.addZ(builder, vectors.z);
  if (vectors.m) FlatGeometry.addM(builder, vectors.m);
  if (spec.type) FlatGeometry.addType(builder, spec.type);
  if (vectors.parts) FlatGeometry.addParts(builder, vectors.parts);
  return FlatGeometry.endGeometry(builder);
}

/** A feature with its size. */
export function featureBytes(geometry: GeometrySpec | null, properties?: Uint8Array): Buffer {
  const builder = new Builder();
  const vector = properties ? FlatFeature.createPropertiesVector(builder, properties) : 0;
  const table = geometry ? geometryTable(builder, geometry) : 0;
  FlatFeature.startFeature(builder);
  if (table) FlatFeature.addGeometry(builder, table);
  if (vector) FlatFeature.addProperties(builder, vector);
  builder.finishSizePrefixed(FlatFeature.endFeature(builder));
  return Buffer.from(builder.asUint8Array());
}

/** A column number and a value, as bytes. */
export function property(column: number, value: Uint8Array): Buffer {
  return Buffer.concat([Uint8Array.of(column, column >> 8), value]);
}

/** A value of text, JSON or bytes. */
export function sized(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value as string);
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  return Buffer.concat([size, bytes]);
}

export function writeFgb(path: string, header: HeaderSpec, features: readonly Uint8Array[]): string {
  writeFileSync(path, Buffer.concat([headerBytes(header), ...features]));
  return path;
}

export async function readLayer(path: string, options: ReadFileOptions = {}): Promise<LayerContent> {
  const [layer] = await readFile(flatgeobuf, path, options);
  return layer!;
}

export const featuresOf = ({ batches }: LayerContent): Feature[] => batches.flatMap((batch) => [...batch.features()]);

/** What the reader of the npm package finds. */
export async function readByPackage(path: string): Promise<Feature[]> {
  const features: Feature[] = [];
  for await (const feature of deserialize(Uint8Array.from(readFileSync(path))))
    features.push(feature as unknown as Feature);
  return features;
}
