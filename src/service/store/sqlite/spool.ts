/** Spools pages that are too large for memory to a file. */
import { writeSync } from "node:fs";
import type { PageMetadata, SpoolRequest } from "../contract.js";
import { featureJsonSql } from "../page-limit.js";
import type { Connection } from "./connection.js";
import { findMapRow, queryPage, type StoredPageRow, toPageMetadata } from "./pages.js";

/** Bytes per write; a larger feature is written alone. */
const chunkBytes = 1 << 20;
const comma = Buffer.from(",");

/** Writes a page to a file in one transaction; writes nothing if it exceeds `maxBytes`. */
export function spoolPage(db: Connection, request: SpoolRequest, file: number): PageMetadata | null {
  return db.database.transaction(() => {
    const map = findMapRow(db, request.map);
    if (!map) return null;
    const { text: _none, ...found } = queryPage(db, map.number, { from: request.after + 1, skip: 0 }, request.size, -1);
    if (found.count > 0 && found.bytes <= request.maxBytes) writeFeatures(db, map.number, found, file);
    return toPageMetadata(db, map, found);
  })();
}

function writeFeatures(
  db: Connection,
  map: number,
  { first, last, bytes }: Omit<StoredPageRow, "text">,
  file: number,
): void {
  const rows = db
    .statement<[object], { text: Buffer }>(
      `SELECT CAST(${featureJsonSql} AS BLOB) AS text FROM features
      WHERE place BETWEEN @map << 40 | @first AND @map << 40 | @last ORDER BY place`,
    )
    .iterate({ map, first, last });
  const writer = new ChunkWriter(file);
  let isFirst = true;
  for (const { text } of rows) {
    if (!isFirst) writer.add(comma);
    isFirst = false;
    writer.add(text);
  }
  writer.flush();
  if (writer.written !== bytes) throw new Error(`spooled ${writer.written} bytes of a page of ${bytes}`);
}

/** Writes to a file from its start, and combines small texts. */
class ChunkWriter {
  readonly #buffer = Buffer.allocUnsafe(chunkBytes);
  #filled = 0;
  /** Bytes written. */
  written = 0;

  constructor(private readonly file: number) {}

  add(text: Uint8Array): void {
    if (this.#filled + text.length > chunkBytes) this.flush();
    if (text.length > chunkBytes) {
      this.#write(text, text.length);
    } else {
      this.#buffer.set(text, this.#filled);
      this.#filled += text.length;
    }
  }

  flush(): void {
    this.#write(this.#buffer, this.#filled);
    this.#filled = 0;
  }

  #write(from: Uint8Array, length: number): void {
    for (let done = 0; done < length; ) {
      const bytes = writeSync(this.file, from, done, length - done, this.written);
      done += bytes;
      this.written += bytes;
    }
  }
}
