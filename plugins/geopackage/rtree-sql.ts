import { quoted } from "../shared/sql-names.js";
import type { Version } from "./schema-sql.js";

/** Names that the statements are made for. */
interface Indexed {
  readonly table: string;
  readonly column: string;
  readonly fid: string;
}

export const rtreeName = ({ table, column }: Omit<Indexed, "fid">): string => `rtree_${table}_${column}`;

export const createRtreeSql = (indexed: Indexed): string =>
  `CREATE VIRTUAL TABLE ${quoted(rtreeName(indexed))} USING rtree(id, minx, maxx, miny, maxy)`;

/** What triggers do, with names put in: `<t>` table, `<c>` geometry column, `<i>` key, `<r>` R-tree. */
const box = "ST_MinX(NEW.<c>), ST_MaxX(NEW.<c>), ST_MinY(NEW.<c>), ST_MaxY(NEW.<c>)";
const hasNew = "(NEW.<c> NOTNULL AND NOT ST_IsEmpty(NEW.<c>))";
const hasOld = "(OLD.<c> NOTNULL AND NOT ST_IsEmpty(OLD.<c>))";
const lacksNew = "(NEW.<c> ISNULL OR ST_IsEmpty(NEW.<c>))";
const lacksOld = "(OLD.<c> ISNULL OR ST_IsEmpty(OLD.<c>))";
const put = `INSERT OR REPLACE INTO <r> VALUES (NEW.<i>, ${box});`;
const remove = "DELETE FROM <r> WHERE id = OLD.<i>;";

type Trigger = readonly [name: string, when: string];

const always: readonly Trigger[] = [
  ["insert", `AFTER INSERT ON <t> WHEN (NEW.<c> NOT NULL AND NOT ST_IsEmpty(NEW.<c>)) BEGIN ${put} END`],
  ["update2", `AFTER UPDATE OF <c> ON <t> WHEN OLD.<i> = NEW.<i> AND ${lacksNew} BEGIN ${remove} END`],
  [
    "update4",
    `AFTER UPDATE ON <t> WHEN OLD.<i> != NEW.<i> AND ${lacksNew} BEGIN DELETE FROM <r> WHERE id IN (OLD.<i>, NEW.<i>); END`,
  ],
  ["delete", `AFTER DELETE ON <t> WHEN OLD.<c> NOT NULL BEGIN ${remove} END`],
];

/** The triggers that keep an R-tree as its table is (Annex F.3): 1.4 replaces `update1` and `update3` of before. */
const triggers: Readonly<Record<Version, readonly Trigger[]>> = {
  "1.2": [
    ...always,
    ["update1", `AFTER UPDATE OF <c> ON <t> WHEN OLD.<i> = NEW.<i> AND ${hasNew} BEGIN ${put} END`],
    ["update3", `AFTER UPDATE ON <t> WHEN OLD.<i> != NEW.<i> AND ${hasNew} BEGIN ${remove} ${put} END`],
  ],
  "1.4": [
    ...always,
    ["update5", `AFTER UPDATE ON <t> WHEN OLD.<i> != NEW.<i> AND ${hasNew} BEGIN ${remove} ${put} END`],
    [
      "update6",
      `AFTER UPDATE OF <c> ON <t> WHEN OLD.<i> = NEW.<i> AND ${hasNew} AND ${hasOld} BEGIN UPDATE <r> SET minx = ST_MinX(NEW.<c>), maxx = ST_MaxX(NEW.<c>), miny = ST_MinY(NEW.<c>), maxy = ST_MaxY(NEW.<c>) WHERE id = NEW.<i>; END`,
    ],
    [
      "update7",
      `AFTER UPDATE OF <c> ON <t> WHEN OLD.<i> = NEW.<i> AND ${hasNew} AND ${lacksOld} BEGIN INSERT INTO <r> VALUES (NEW.<i>, ${box}); END`,
    ],
  ],
};

export function createTriggersSql(indexed: Indexed, version: Version): string[] {
  const rtree = rtreeName(indexed);
  const names: Readonly<Record<string, string>> = {
    "<t>": quoted(indexed.table),
    "<c>": quoted(indexed.column),
    "<i>": quoted(indexed.fid),
    "<r>": quoted(rtree),
  };
  return triggers[version].map(
    ([name, text]) =>
      `CREATE TRIGGER ${quoted(`${rtree}_${name}`)} ${text.replace(/<[tcir]>/g, (mark) => names[mark]!)}`,
  );
}
