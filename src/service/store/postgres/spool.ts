/** Spools pages that are too large for memory to a file. */
import { write } from "node:fs";
import { promisify } from "node:util";
import { isDiskFull } from "../../../errors/disk-full.js";
import { problem } from "../../http/problems.js";
import type { PageMetadata, SpoolRequest } from "../contract.js";
import { featureJsonSql } from "../page-limit.js";
import type { Database, QueryRunner } from "./database.js";
import { featureBytesSql, queryPage } from "./pages.js";
import { uuidParameter } from "./uuid-parameter.js";

/** Bytes per query; a larger feature is read alone. */
const chunkBytes = 1 << 20;

/** Writes a page to a file in chunks, all from one snapshot; writes nothing if it exceeds `maxBytes`. */
export function spoolPage(db: Database, request: SpoolRequest, file: number): Promise<PageMetadata | null> {
  return db.snapshot(async (session) => {
    const found = await queryPage(session, { ...request, maxBytes: -1 });
    if (!found) return null;
    const { text: _none, ...metadata } = found;
    if (metadata.count > 0 && metadata.bytes <= request.maxBytes)
      await writeFeatures(session, request.map, metadata, file);
    return metadata;
  });
}

async function writeFeatures(
  session: QueryRunner,
  id: string,
  { first, last, bytes }: PageMetadata,
  file: number,
): Promise<void> {
  const [found] = await session.rows<{ number: number }>("SELECT number FROM maps WHERE id = $1", uuidParameter(id));
  const lengths = await session.rows<{ seq: number; bytes: number }>(
    `SELECT seq, ${featureBytesSql} AS bytes FROM features WHERE map = $1 AND seq BETWEEN $2 AND $3 ORDER BY seq`,
    found!.number,
    first,
    last,
  );
  let at = 0;
  for (const chunk of chunksOf(lengths)) {
    const [row] = await session.rows<{ text: string }>(
      `SELECT string_agg(${featureJsonSql}, ',' ORDER BY seq) AS text
      FROM features WHERE map = $1 AND seq BETWEEN $2 AND $3`,
      found!.number,
      chunk.first,
      chunk.last,
    );
    at += await writeAt(file, Buffer.from(at === 0 ? row!.text : `,${row!.text}`, "utf8"), at);
  }
  if (at !== bytes) throw new Error(`spooled ${at} bytes of a page of ${bytes}`);
}

function* chunksOf(
  lengths: readonly { readonly seq: number; readonly bytes: number }[],
): Generator<{ readonly first: number; readonly last: number }> {
  let first = 0;
  let sum = 0;
  for (const [i, { bytes }] of lengths.entries()) {
    if (i > first && sum + bytes > chunkBytes) {
      yield { first: lengths[first]!.seq, last: lengths[i - 1]!.seq };
      first = i;
      sum = 0;
    }
    sum += bytes;
  }
  yield { first: lengths[first]!.seq, last: lengths.at(-1)!.seq };
}

const writeAsync = promisify(write);

/** @returns the number of bytes written */
async function writeAt(file: number, bytes: Buffer, at: number): Promise<number> {
  try {
    for (let done = 0; done < bytes.length; ) {
      done += (await writeAsync(file, bytes, done, bytes.length - done, at + done)).bytesWritten;
    }
    return bytes.length;
  } catch (error) {
    throw isDiskFull((error as NodeJS.ErrnoException).code) ? problem("disk-full", {}, { cause: error }) : error;
  }
}
