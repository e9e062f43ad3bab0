import { bucketBits } from "../buckets.js";
import type { Page, PageQuestion } from "../contract.js";
import type { Database } from "./database.js";
import { uuid } from "./ids.js";

const map = "(SELECT number FROM the_map)";
const widths = { coarse: 2 ** bucketBits.coarse, fine: 2 ** bucketBits.fine } as const;

/**
 * Where a page begins, by its number: the bucket that holds its first feature, coarse, then fine, and how many features
 * of it stand before. No row where the map ends before.
 */
const startOfPage = `
  coarse AS (
    SELECT bucket, upto - count AS behind FROM (
      SELECT bucket, count, sum(count) OVER (ORDER BY bucket)::bigint AS upto FROM bucket_counts
      WHERE map = ${map} AND bits = ${bucketBits.coarse}
    ) counts WHERE upto > $2::bigint ORDER BY bucket LIMIT 1
  ),
  fine AS (
    SELECT bucket, upto - count AS behind FROM (
      SELECT f.bucket, f.count, c.behind + sum(f.count) OVER (ORDER BY f.bucket)::bigint AS upto
      FROM coarse c JOIN bucket_counts f ON f.bucket >= c.bucket * ${widths.coarse / widths.fine}
        AND f.bucket < (c.bucket + 1) * ${widths.coarse / widths.fine}
      WHERE f.map = ${map} AND f.bits = ${bucketBits.fine}
    ) counts WHERE upto > $2::bigint ORDER BY bucket LIMIT 1
  ),
  start AS (SELECT bucket * ${widths.fine} AS seq, $2::bigint - behind AS skip FROM fine)`;
const startBehind = `start AS (SELECT $2::bigint + 1 AS seq, 0::bigint AS skip)`;

/**
 * One statement sees one state of the map: its revision, its counts and its features. The server puts the text together
 * from the texts that are stored, so that no JSON is parsed and no feature becomes an object.
 */
const statement = (start: string): string => `
  WITH the_map AS (SELECT number, revision FROM maps WHERE id = $1),
  ${start},
  features_of_page AS MATERIALIZED (
    SELECT seq, id, geometry, properties FROM features WHERE map = ${map} AND seq >= (SELECT seq FROM start)
    ORDER BY seq OFFSET (SELECT skip FROM start) LIMIT $3
  ),
  page AS (
    SELECT count(*) AS count, max(seq) AS last, string_agg(
      '{"type":"Feature","id":"' || id || '","geometry":' || geometry || ',"properties":' || properties || '}', ','
      ORDER BY seq
    ) AS text FROM features_of_page
  )
  SELECT text, count, last, revision,
    EXISTS (SELECT FROM features f WHERE f.map = ${map} AND f.seq > page.last) AS more
  FROM the_map, page`;

const byNumber = statement(startOfPage);
const byPlace = statement(startBehind);

export async function readPage(db: Database, { map: id, size, page, after }: PageQuestion): Promise<Page | null> {
  const [found] = await db.rows<Omit<Page, "text"> & { text: string | null }>(
    after === undefined ? byNumber : byPlace,
    uuid(id),
    after ?? (page - 1) * size,
    size,
  );
  return found ? { ...found, text: Buffer.from(found.text ?? "", "utf8") } : null;
}
