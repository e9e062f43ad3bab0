import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type DigestBlock, DigestFile, type DigestList } from "../../canonical/digest-file.js";
import { batchIndexOf, type StoredBatch } from "../../canonical/stored-batches.js";
import { readFully, writeFully } from "../../canonical/whole-reads.js";
import { spoolError } from "../../io/input/spool.js";
import type { Batch } from "../../model/batch.js";
import { commonType, type Field, type FieldType } from "../../model/field.js";
import { type GeometryType, geometryTypes } from "../../model/geometry.js";
import type { Crs } from "../../model/layer.js";
import { type ComparisonChunk, comparisonFormatId, decodeBatch, type SpoolManifest } from "./comparison-format.js";

/** A batch in the file of its layer. */
export interface SpooledBatch extends StoredBatch {
  readonly rows: number;
}

/** The features of a layer in temporary files: the batches, and a digest of each row. Rows count from 0. */
export class SpooledLayer implements DigestList, Disposable {
  readonly batches: SpooledBatch[] = [];
  /** Number of features. */
  rows = 0;
  private readonly path: string;
  private readonly handle: number;
  private readonly digests: DigestFile;
  private size = 0;
  private idRows = 0;
  private kinds = 0;
  hasZ = false;
  hasM = false;
  /** Whether all coordinates are longitudes and latitudes by their range. */
  inDegrees = true;
  private readonly seenFields = new Map<string, FieldType>();
  /** The last batches read, by index. */
  private readonly cache = new Map<number, Batch>();

  constructor(
    folder: string,
    readonly name: string,
    readonly crs: Crs | null,
    /** As the source declares them; null if only its features have fields. */
    private declared: readonly Field[] | null,
    /** Id of the format that the layer was read from. */
    readonly format: string,
  ) {
    this.path = join(folder, "batches");
    this.handle = openSync(this.path, "wx+", 0o600);
    this.digests = new DigestFile(join(folder, "digests"));
  }

  /** @throws output-failed */
  add({ batch, rows, digests, fields, hasIds, kinds, hasZ, hasM, inDegrees }: ComparisonChunk): void {
    try {
      writeFully(this.handle, batch);
      this.digests.add(digests);
    } catch (error) {
      throw spoolError(this.path, error);
    }
    this.batches.push({ firstRow: this.rows, rows, start: this.size, length: batch.length });
    this.size += batch.length;
    this.rows += rows;
    this.kinds |= kinds;
    this.hasZ ||= hasZ;
    this.hasM ||= hasM;
    this.inDegrees &&= inDegrees;
    if (hasIds) this.idRows += rows;
    for (const { name, type } of fields) {
      const known = this.seenFields.get(name);
      if (known !== type) this.seenFields.set(name, known === undefined ? type : commonType(known, type));
    }
  }

  /** Declared fields in their order, then those that only features have. */
  get fields(): Field[] {
    const declared = this.declared ?? [];
    const names = new Set(declared.map(({ name }) => name));
    const others = [...this.seenFields].filter(([name]) => !names.has(name)).map(([name, type]) => ({ name, type }));
    return [...declared, ...others];
  }

  /** Whether every feature has an id. */
  get hasIds(): boolean {
    return this.rows > 0 && this.idRows === this.rows;
  }

  get geometryTypes(): GeometryType[] {
    return geometryTypes.filter((type, kind): type is GeometryType => type !== null && (this.kinds & (1 << kind)) > 0);
  }

  /** Average size of a feature. */
  get bytesPerRow(): number {
    return this.rows === 0 ? 0 : this.size / this.rows;
  }

  batchAt(index: number): Batch {
    const cached = this.cache.get(index);
    if (cached) return cached;
    const { start, length } = this.batches[index]!;
    const batch = decodeBatch(readFully(this.handle, start, length));
    if (this.cache.size >= 4) this.cache.delete(this.cache.keys().next().value!);
    this.cache.set(index, batch);
    return batch;
  }

  /** Index of the batch with a row. */
  batchOf(row: number): number {
    return batchIndexOf(this.batches, row);
  }

  digestBlocks(): Generator<DigestBlock> {
    return this.digests.digestBlocks();
  }

  /** Sets the fields of a layer that is not read from a source. */
  declare(fields: readonly Field[]): void {
    this.declared = fields;
  }

  get manifest(): SpoolManifest["layers"][number] {
    const { name, crs, fields, rows: features, path } = this;
    const batches = this.batches.map(({ start, length }) => [start, length] as const);
    return { name, crs, fields, geometryTypes: this.geometryTypes, features, path, batches };
  }

  [Symbol.dispose](): void {
    closeSync(this.handle);
    this.digests[Symbol.dispose]();
  }
}

/** Writes a file that the reader of comparisons opens. */
export function writeManifest(path: string, layers: readonly SpooledLayer[]): void {
  const manifest: SpoolManifest = { layers: layers.map((layer) => layer.manifest) };
  writeFileSync(path, JSON.stringify(manifest), { mode: 0o600 });
}

/** The name of manifests, by which the pipeline finds their reader. */
export const manifestName = `layer.${comparisonFormatId}`;
