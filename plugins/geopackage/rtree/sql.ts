import { quoteIdentifier } from "../../shared/sql-identifiers.js";
import type { GeoPackageVersion } from "../schema/schema-sql.js";

interface IndexedTable {
  readonly table: string;
  readonly column: string;
  readonly fid: string;
}

export const rtreeName = ({ table, column }: Omit<IndexedTable, "fid">): string => `rtree_${table}_${column}`;

export const createRtreeSql = (indexed: IndexedTable): string =>
  `CREATE VIRTUAL TABLE ${quoteIdentifier(rtreeName(indexed))} USING rtree(id, minx, maxx, miny, maxy)`;

/** Trigger SQL with placeholders: `<t>` table, `<c>` geometry column, `<i>` key, `<r>` R-tree. */
const boxSql = "ST_MinX(NEW.<c>), ST_MaxX(NEW.<c>), ST_MinY(NEW.<c>), ST_MaxY(NEW.<c>)";
const hasNewSql = "(NEW.<c> NOTNULL AND NOT ST_IsEmpty(NEW.<c>))";
const hasOldSql = "(OLD.<c> NOTNULL AND NOT ST_IsEmpty(OLD.<c>))";
const lacksNewSql = "(NEW.<c> ISNULL OR ST_IsEmpty(NEW.<c>))";
const lacksOldSql = "(OLD.<c> ISNULL OR ST_IsEmpty(OLD.<c>))";
const putSql = `INSERT OR REPLACE INTO <r> VALUES (NEW.<i>, ${boxSql});`;
const removeSql = "DELETE FROM <r> WHERE id = OLD.<i>;";

type Trigger = readonly [name: string, when: string];

const commonTriggers: readonly Trigger[] = [
  ["insert", `AFTER INSERT ON <t> WHEN (NEW.<c> NOT NULL AND NOT ST_IsEmpty(NEW.<c>)) BEGIN ${putSql} END`],
  ["update2", `AFTER UPDATE OF <c> ON <t> WHEN OLD.<i> = NEW.<i> AND ${lacksNewSql} BEGIN ${removeSql} END`],
  [
    "update4",
    `AFTER UPDATE ON <t> WHEN OLD.<i> != NEW.<i> AND ${lacksNewSql} BEGIN DELETE FROM <r> WHERE id IN (OLD.<i>, NEW.<i>); END`,
  ],
  ["delete", `AFTER DELETE ON <t> WHEN OLD.<c> NOT NULL BEGIN ${removeSql} END`],
];

/** Triggers that keep an R-tree in sync with its table (Annex F.3). 1.4 replaces `update1` and `update3`. */
const triggersByVersion: Readonly<Record<GeoPackageVersion, readonly Trigger[]>> = {
  "1.2": [
    ...commonTriggers,
    ["update1", `AFTER UPDATE OF <c> ON <t> WHEN OLD.<i> = NEW.<i> AND ${hasNewSql} BEGIN ${putSql} END`],
    ["update3", `AFTER UPDATE ON <t> WHEN OLD.<i> != NEW.<i> AND ${hasNewSql} BEGIN ${removeSql} ${putSql} END`],
  ],
  "1.4": [
    ...commonTriggers,
    ["update5", `AFTER UPDATE ON <t> WHEN OLD.<i> != NEW.<i> AND ${hasNewSql} BEGIN ${removeSql} ${putSql} END`],
    [
      "update6",
      `AFTER UPDATE OF <c> ON <t> WHEN OLD.<i> = NEW.<i> AND ${hasNewSql} AND ${hasOldSql} BEGIN UPDATE <r> SET minx = ST_MinX(NEW.<c>), maxx = ST_MaxX(NEW.<c>), miny = ST_MinY(NEW.<c>), maxy = ST_MaxY(NEW.<c>) WHERE id = NEW.<i>; END`,
    ],
    [
      "update7",
      `AFTER UPDATE OF <c> ON <t> WHEN OLD.<i> = NEW.<i> AND ${hasNewSql} AND ${lacksOldSql} BEGIN INSERT INTO <r> VALUES (NEW.<i>, ${boxSql}); END`,
    ],
  ],
};

/** The names of the triggers, and the statements that create them. */
export function triggersOf(indexed: IndexedTable, version: GeoPackageVersion): { name: string; sql: string }[] {
  const rtree = rtreeName(indexed);
  const names: Readonly<Record<string, string>> = {
    "<t>": quoteIdentifier(indexed.table),
    "<c>": quoteIdentifier(indexed.column),
    "<i>": quoteIdentifier(indexed.fid),
    "<r>": quoteIdentifier(rtree),
  };
  return triggersByVersion[version].map(([suffix, text]) => {
    const name = `${rtree}_${suffix}`;
    return {
      name,
      sql: `CREATE TRIGGER ${quoteIdentifier(name)} ${text.replace(/<[tcir]>/g, (mark) => names[mark]!)}`,
    };
  });
}
