import { bucketBehind, bucketBits, bucketOf, bucketStart } from "../buckets.js";
import type { Page, PageQuestion } from "../contract.js";
import { bytesAround, mostPageBytes } from "../page-limit.js";
import type { Connection } from "./connection.js";

interface Texts {
  readonly count: number;
  readonly last: number | null;
  /** Null where there are none, or too many bytes. */
  readonly text: Uint8Array | null;
}

/**
 * Reads a page as it goes out. SQLite itself puts the text together from the texts that are stored, in one buffer:
 * no JSON is parsed, no feature becomes an object.
 */
export function readPage(db: Connection, question: PageQuestion): Page | null | "too-large" {
  return db.database.transaction(() => {
    const map = db.get<{ number: number; features: number; revision: number; version: string }>(
      "SELECT number, features, revision, version FROM maps WHERE id = ?",
      question.map,
    );
    if (!map) return null;
    const { revision, version } = map;
    const start =
      question.after === undefined
        ? startOf(db, map.number, (question.page - 1) * question.size)
        : { from: question.after + 1, skip: 0 };
    const found = start && textsFrom(db, map.number, start, question.size);
    if (found?.count && !found.text) return "too-large";
    if (!found?.text) return { text: new Uint8Array(), count: 0, last: null, more: false, revision, version };
    return {
      text: found.text,
      count: found.count,
      last: found.last,
      more: hasMore(db, map.number, found.last!),
      revision,
      version,
    };
  })();
}

/** From which `seq` on, and how many features to step over there; null behind the last. */
interface Start {
  readonly from: number;
  readonly skip: number;
}

function startOf(db: Connection, map: number, skip: number): Start | null {
  let start: Start = { from: 0, skip };
  let above: number | null = null;
  for (const bits of [...bucketBits].reverse()) {
    const first = bucketOf(start.from, bits);
    const last = above === null ? Number.MAX_SAFE_INTEGER : first + 2 ** (above - bits) - 1;
    const found = bucketBehind(counts(db, map, bits, first, last), start.skip);
    if (!found) return null;
    start = { from: bucketStart(found.bucket, bits), skip: found.skip };
    above = bits;
  }
  return start;
}

function counts(
  db: Connection,
  map: number,
  bits: number,
  first: number,
  last: number,
): Iterable<{ bucket: number; count: number }> {
  return db
    .statement<[number, number, number, number], { bucket: number; count: number }>(
      "SELECT bucket, count FROM bucket_counts WHERE map = ? AND bits = ? AND bucket BETWEEN ? AND ? ORDER BY bucket",
    )
    .iterate(map, bits, first, last);
}

/**
 * Measures first, and puts together only what is not too large. SQLite takes lengths from the rows' heads, without
 * their texts: 500 points cost 0.04 ms more by it (0.38), and 1 GiB is refused in 0.3 ms.
 */
function textsFrom(db: Connection, map: number, { from, skip }: Start, size: number): Texts {
  return db.get<Texts>(
    `SELECT count, last & 0xFFFFFFFFFF AS last, CASE WHEN bytes + count * ${bytesAround} - 1 <= ${mostPageBytes} THEN (
      SELECT CAST(group_concat(
        '{"type":"Feature","id":"' || id || '","geometry":' || geometry || ',"properties":' || properties || '}', ','
        ORDER BY place) AS BLOB)
      FROM features WHERE place BETWEEN first AND last
    ) END AS text
    FROM (
      SELECT count(*) AS count, min(place) AS first, max(place) AS last, sum(bytes) AS bytes FROM (
        SELECT place, octet_length(geometry) + octet_length(properties) AS bytes FROM features
        WHERE place >= @map << 40 | @from AND place < (@map + 1) << 40 ORDER BY place LIMIT @size OFFSET @skip
      )
    )`,
    { map, from, skip, size },
  )!;
}

function hasMore(db: Connection, map: number, last: number): boolean {
  return (
    db.get("SELECT 1 FROM features WHERE place > @map << 40 | @last AND place < (@map + 1) << 40 LIMIT 1", {
      map,
      last,
    }) !== undefined
  );
}
