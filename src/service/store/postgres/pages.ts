import type { FeaturePage, PageMetadata, PageRequest } from "../contract.js";
import { bucketBits } from "../count-buckets.js";
import { featureJsonSql, featureOverheadBytes, maxPageBytes, pageTooLarge } from "../page-limit.js";
import type { Database, QueryRunner } from "./database.js";
import { uuidParameter } from "./uuid-parameter.js";

const mapNumberSql = "(SELECT number FROM the_map)";

/** Of the buckets of a level inside the one found before, the first that reaches beyond the features to skip. */
const firstBucketBeyondSql = (bits: number, skip: string, inside: string): string => `
  SELECT bucket, ${skip} - behind AS skip FROM (
    SELECT bucket, count, sum(count) OVER (ORDER BY bucket ROWS UNBOUNDED PRECEDING) - count AS behind
    FROM bucket_counts WHERE map = ${mapNumberSql} AND bits = ${bits} AND ${inside}
  ) AS counts WHERE behind + count > ${skip} ORDER BY bucket LIMIT 1`;

/** The levels from the coarsest to the finest, each inside the bucket found before. */
const bucketLevelsSql = [...bucketBits].reverse().map((bits, i, all) => {
  const above = all[i - 1];
  if (above === undefined) return `level_${bits} AS (${firstBucketBeyondSql(bits, "$2::bigint", "true")})`;
  const bucket = `(SELECT bucket FROM level_${above})`;
  const inside = `bucket >= ${bucket} << ${above - bits} AND bucket < (${bucket} + 1) << ${above - bits}`;
  return `level_${bits} AS (${firstBucketBeyondSql(bits, `(SELECT skip FROM level_${above})`, inside)})`;
});
const finestBits = bucketBits[0];

/** Where a page begins, by its number: from level to level, and at last the feature itself. No row behind the map's end. */
const pageStartSql = `
  ${bucketLevelsSql.join(",\n  ")},
  start AS (
    SELECT seq FROM features WHERE map = ${mapNumberSql} AND seq >= (SELECT bucket << ${finestBits} FROM level_${finestBits})
    ORDER BY seq OFFSET (SELECT skip FROM level_${finestBits}) LIMIT 1
  )`;
const cursorStartSql = `start AS (SELECT $2::bigint + 1 AS seq)`;

/** SQL for its bytes, with a comma. */
export const featureBytesSql = `octet_length(geometry)::bigint + octet_length(properties) + ${featureOverheadBytes}`;

/**
 * One statement sees one state of the map: its revision, its counts and its features. The server puts the text together
 * from the texts that are stored, so that no JSON is parsed and no feature becomes an object. It measures first, and
 * puts together only what is not too large: it knows the length of a text without reading or inflating it.
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
  /** Null where there is none, or where it has too many bytes. */
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

/** @throws bad-query where the page's features together are too large */
export async function readPage(db: Database, question: PageRequest): Promise<FeaturePage | null> {
  const found = await queryPage(db, question);
  if (!found) return null;
  if (found.bytes > maxPageBytes) throw pageTooLarge(question.size);
  return { ...found, text: Buffer.from(found.text ?? "", "utf8") };
}
