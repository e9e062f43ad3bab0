import type { FeaturePage, PageMetadata, PageRequest } from "../contract.js";
import { bucketBits } from "../count-buckets.js";
import { featureJsonSql, featureOverheadBytes, maxPageBytes, pageTooLarge } from "../page-limit.js";
import type { Database, QueryRunner } from "./database.js";
import { uuidParameter } from "./uuid-parameter.js";

const mapNumberSql = "(SELECT number FROM the_map)";

/** Within the bucket found on the level above, finds the first bucket that contains the feature after those to skip. */
const firstBucketBeyondSql = (bits: number, skip: string, inside: string): string => `
  SELECT bucket, ${skip} - behind AS skip FROM (
    SELECT bucket, count, sum(count) OVER (ORDER BY bucket ROWS UNBOUNDED PRECEDING) - count AS behind
    FROM bucket_counts WHERE map = ${mapNumberSql} AND bits = ${bits} AND ${inside}
  ) AS counts WHERE behind + count > ${skip} ORDER BY bucket LIMIT 1`;

/** Levels from coarsest to finest, each within the bucket found before. */
const bucketLevelsSql = [...bucketBits].reverse().map((bits, i, all) => {
  const above = all[i - 1];
  if (above === undefined) return `level_${bits} AS (${firstBucketBeyondSql(bits, "$2::bigint", "true")})`;
  const bucket = `(SELECT bucket FROM level_${above})`;
  const inside = `bucket >= ${bucket} << ${above - bits} AND bucket < (${bucket} + 1) << ${above - bits}`;
  return `level_${bits} AS (${firstBucketBeyondSql(bits, `(SELECT skip FROM level_${above})`, inside)})`;
});
const finestBits = bucketBits[0];

/** Finds the start of a page by its number: bucket by bucket, then the feature. Returns no row after the last page. */
const pageStartSql = `
  ${bucketLevelsSql.join(",\n  ")},
  start AS (
    SELECT seq FROM features WHERE map = ${mapNumberSql} AND seq >= (SELECT bucket << ${finestBits} FROM level_${finestBits})
    ORDER BY seq OFFSET (SELECT skip FROM level_${finestBits}) LIMIT 1
  )`;
const cursorStartSql = `start AS (SELECT $2::bigint + 1 AS seq)`;

/** SQL expression for the bytes of a feature with its comma. */
export const featureBytesSql = `octet_length(geometry)::bigint + octet_length(properties) + ${featureOverheadBytes}`;

/**
 * A single statement sees one state of the map: its revision, counts and features. The server concatenates the stored
 * texts, so that no JSON is parsed and no feature becomes an object. It first sums the lengths, which it knows without
 * reading or decompressing the texts, and concatenates only if the page is not too large.
 */
const pageSql = (start: string): string => `
  WITH the_map AS (SELECT number, revision, version FROM maps WHERE id = $1),
  ${start},
  page AS (
    SELECT count(*) AS count, min(seq) AS first, max(seq) AS last, coalesce(sum(bytes) - 1, 0)::bigint AS bytes FROM (
      SELECT seq, ${featureBytesSql} AS bytes FROM features
      WHERE map = ${mapNumberSql} AND seq >= (SELECT seq FROM start) ORDER BY seq LIMIT $3
    ) AS lengths
  )
  SELECT CASE WHEN bytes <= $4 THEN (
      SELECT string_agg(${featureJsonSql}, ',' ORDER BY seq)
      FROM features WHERE map = ${mapNumberSql} AND seq BETWEEN page.first AND page.last
    ) END AS text, count, bytes, first, last, revision, version,
    (SELECT seq FROM features WHERE map = ${mapNumberSql} AND seq > page.last ORDER BY seq LIMIT 1) IS NOT NULL AS more
  FROM the_map, page`;

const pageByNumberSql = pageSql(pageStartSql);
const pageByCursorSql = pageSql(cursorStartSql);

interface StoredPageRow extends PageMetadata {
  /** Null if the page is empty or too large. */
  readonly text: string | null;
}

export async function queryPage(
  db: QueryRunner,
  { map: id, size, page, after, maxBytes }: PageRequest,
): Promise<StoredPageRow | null> {
  const start = after ?? (page - 1) * size;
  const [found] = await db.rows<StoredPageRow>(
    after === undefined ? pageByNumberSql : pageByCursorSql,
    uuidParameter(id),
    Math.min(start, Number.MAX_SAFE_INTEGER),
    size,
    Math.min(maxBytes ?? maxPageBytes, maxPageBytes),
  );
  return found ?? null;
}

/** @throws bad-query if the features of the page are too large together */
export async function readPage(db: Database, request: PageRequest): Promise<FeaturePage | null> {
  const found = await queryPage(db, request);
  if (!found) return null;
  if (found.bytes > maxPageBytes) throw pageTooLarge(request.size);
  return { ...found, text: Buffer.from(found.text ?? "", "utf8") };
}
