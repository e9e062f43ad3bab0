/** Writes pages that are too large for memory to files. */
import { writeSync } from "node:fs";
import type { PageMetadata, SpoolRequest } from "../contract.js";
import { featureJsonSql } from "../page-limit.js";
import type { Connection } from "./connection.js";
import { findMapRow, queryPage, type StoredPageRow, toPageMetadata } from "./pages.js";

/** Bytes that are written at once; a larger feature is written alone. */
const chunkBytes = 1 << 20;
const comma = Buffer.from(",");

/** Writes a page to a file, in one transaction; nothing where it has more bytes than the question allows. */
export function spoolPage(db: Connection, question: SpoolRequest, file: number): PageMetadata | null {
  return db.database.transaction(() => {
    const map = findMapRow(db, question.map);
    if (!map) return null;
    const { text: _none, ...found } = queryPage(
      db,
      map.number,
      { from: question.after + 1, skip: 0 },
      question.size,
      -1,
    );
    if (found.count > 0 && found.bytes <= question.maxBytes) writeFeatures(db, map.number, found, file);
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
  if (writer.written !== bytes) throw new Error(`a page of ${bytes} bytes was written as ${writer.written}`);
}

/** Writes to a file from its beginning; small texts go together. */
class ChunkWriter {
  readonly #buffer = Buffer.allocUnsafe(chunkBytes);
  #filled = 0;
  /** Bytes. */
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
