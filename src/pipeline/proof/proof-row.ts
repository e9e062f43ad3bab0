/**
 * The canonical form of a feature for verifications. Unlike that of comparisons between formats, it keeps everything that
 * the target has promised to hold: kinds of geometry, null and absent, texts byte by byte.
 */
import { ByteWriter } from "../../canonical/byte-writer.js";
import type { Batch } from "../../model/batch.js";
import type { Column } from "../../model/column.js";
import type { FieldType } from "../../model/field.js";
import { hashColumn, hashGeometries, hashGeometry, hashIds } from "./hash-batch.js";
import { writeCell, writeId } from "./proof-cell.js";
import { type ProofColumn, proofColumns } from "./proof-columns.js";
import type { ProofRules } from "./proof-rules.js";
import { RowHashes } from "./row-hashes.js";

/** Encodes features and their parts. Bytes are valid until the next call. */
export class ProofRowEncoder {
  private readonly writer = new ByteWriter();
  private batch: Batch | null = null;
  private columns: readonly ProofColumn[] = [];

  constructor(readonly rules: ProofRules) {}

  /** One digest of `digestBytes` for each row. */
  digests(batch: Batch): Buffer {
    const { rules, writer } = this;
    const hashes = new RowHashes(batch.length);
    hashGeometries(hashes, batch.geometry, rules);
    for (const column of proofColumns(batch, rules)) hashColumn(hashes, column, rules, writer);
    if (rules.withIds && batch.ids) hashIds(hashes, batch.ids, rules.idsAsText, writer);
    return hashes.finish();
  }

  private writeAttributes(batch: Batch, row: number): void {
    const { writer, rules } = this;
    if (batch !== this.batch) {
      this.batch = batch;
      this.columns = proofColumns(batch, rules);
    }
    for (const { bytes, column, writtenType } of this.columns) {
      const start = writer.length;
      writer.bytes(bytes, 0, bytes.length);
      if (!writeCell(writer, column, row, writtenType, rules)) writer.length = start;
    }
  }

  /** The digest of a geometry. */
  geometry({ geometry }: Batch, row: number): Buffer {
    return hashGeometry(geometry, row, this.rules);
  }

  attributes(batch: Batch, row: number): Buffer {
    this.writer.reset();
    this.writeAttributes(batch, row);
    return this.writer.written;
  }

  cell(column: Column, row: number, writtenType: FieldType | null): Buffer {
    this.writer.reset();
    writeCell(this.writer, column, row, writtenType, this.rules);
    return this.writer.written;
  }

  id(column: Column, row: number): Buffer {
    this.writer.reset();
    writeId(this.writer, column, row, this.rules.idsAsText);
    return this.writer.written;
  }
}
