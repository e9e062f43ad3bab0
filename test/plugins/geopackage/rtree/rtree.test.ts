import Sqlite from "better-sqlite3";
import { afterAll, describe, expect, it } from "vitest";
import { RtreeBuilder } from "../../../../plugins/geopackage/rtree/builder.js";
import { PageWriter } from "../../../../plugins/geopackage/sqlite/page-writer.js";
import { TableBuilder } from "../../../../plugins/geopackage/sqlite/table-builder.js";
import { ScratchFile } from "../../../../plugins/shared/scratch-file.js";
import { TemporaryFolder } from "../../../../src/testing/index.js";
import { createRandom } from "../../../support/random.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
let files = 0;

interface Box {
  readonly id: bigint;
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

type Extent = readonly [number, number, number, number];

/** A database with an R-tree of these boxes, of which `most` are ordered in memory at once. */
async function treeOf(boxes: readonly Box[], most: number, extent: Extent | null = null): Promise<Sqlite.Database> {
  const path = scratch.path(`tree-${files++}.sqlite`);
  const made = new Sqlite(path);
  made.pragma("page_size = 4096");
  made.exec("CREATE VIRTUAL TABLE tree USING rtree(id, minx, maxx, miny, maxy)");
  const rootOf = made.prepare<[string], { page: number }>("SELECT rootpage AS page FROM sqlite_master WHERE name = ?");
  const roots = ["node", "rowid", "parent"].map((part) => rootOf.get(`tree_${part}`)!.page);
  const [{ page_count: pageCount }] = made.pragma("page_count") as [{ page_count: number }];
  made.close();

  const pages = new PageWriter(path, 4096, pageCount);
  const [node, rowid, parent] = roots.map((root) => new TableBuilder(pages, root)) as [
    TableBuilder,
    TableBuilder,
    TableBuilder,
  ];
  const builder = new RtreeBuilder({ node, rowid, parent }, extent, most);
  for (const { id, west, south, east, north } of boxes) {
    if (builder.isFull) await builder.spill(async () => new ScratchFile("tree", scratch.path(`runs-${files++}`)));
    builder.add(Number(id >> 32n), Number(id & 0xffffffffn), Float64Array.of(west, south, east, north), 0);
  }
  const root = builder.finish();
  for (const table of [node, rowid, parent]) table.finish();
  await pages.close();
  const database = new Sqlite(path);
  database.unsafeMode(true);
  if (root) database.prepare("UPDATE tree_node SET data = ? WHERE nodeno = 1").run(root);
  return database;
}

/** Boxes of which some are points; ids ascend with gaps. */
function randomBoxes(count: number, seed: number, [west, south, east, north]: Extent): Box[] {
  const random = createRandom(seed);
  let id = -5n;
  return Array.from({ length: count }, () => {
    id += 1n + BigInt(Math.floor(random() * 3));
    const x = west + random() * (east - west);
    const y = south + random() * (north - south);
    const width = random() < 0.5 ? 0 : (random() * (east - west)) / 200;
    return { id, west: x, south: y, east: x + width, north: y + width / 2 };
  });
}

function expectFinds(database: Sqlite.Database, boxes: readonly Box[], windows: readonly Extent[]): void {
  expect(database.pragma("integrity_check")).toEqual([{ integrity_check: "ok" }]);
  expect(database.prepare("SELECT rtreecheck('tree') AS said").get()).toEqual({ said: "ok" });
  const search = database
    .prepare("SELECT id FROM tree WHERE maxx >= ? AND minx <= ? AND maxy >= ? AND miny <= ? ORDER BY id")
    .safeIntegers();
  // Boxes have 32 bits a side, rounded outwards: what lies near the edge of a window may be found or not.
  for (const [west, south, east, north] of windows) {
    const found = new Set((search.all(west, east, south, north) as { id: bigint }[]).map(({ id }) => id));
    const within = (box: Box, margin: number) =>
      box.east >= west - margin &&
      box.west <= east + margin &&
      box.north >= south - margin &&
      box.south <= north + margin;
    const margin = Math.max(...[west, south, east, north].map(Math.abs)) * 2 ** -22;
    expect(boxes.filter((box) => within(box, 0) && !found.has(box.id))).toEqual([]);
    expect(boxes.filter((box) => found.has(box.id) && !within(box, margin))).toEqual([]);
  }
}

const world: Extent = [-180, -90, 180, 90];

describe("an R-tree packed from its leaves", () => {
  it.each([
    ["nothing", 0],
    ["a root alone", 51],
    ["two leaves", 52],
    ["three levels", 51 * 51 + 1],
  ])("of %s is sound", async (_, count) => {
    const boxes = randomBoxes(count, 3, world);
    const database = await treeOf(boxes, 1 << 19);
    expectFinds(database, boxes, [world, [-20, -20, 30, 5]]);
    expect(database.prepare("SELECT count(*) AS n FROM tree").get()).toEqual({ n: count });
    database.close();
  });

  it.each([
    ["of one length", 30_000, 1000],
    ["of which the last is short", 30_001, 2000],
    ["that are no longer than what is read at once", 3000, 100],
    ["where one was full at the end", 2000, 1000],
  ])("is ordered on disk in runs %s", async (_, count, most) => {
    const boxes = randomBoxes(count, 4, world);
    const database = await treeOf(boxes, most);
    expectFinds(database, boxes, [world, [10, 40, 12, 42], [-180, -90, -170, -80], [0, 0, 0.5, 0.5]]);
    database.close();
  });

  it.each<[string, Extent, Extent | null]>([
    ["metres of no known extent", [200_000, 5_000_000, 900_000, 6_000_000], null],
    ["a known extent", [200_000, 5_000_000, 900_000, 6_000_000], [200_000, 5_000_000, 905_000, 6_003_000]],
    ["an extent that is wrong", [200_000, 5_000_000, 900_000, 6_000_000], [0, 0, 1, 1]],
    ["a single place", [7, 8, 7, 8], null],
  ])("is found by on disk in %s", async (_, where, extent) => {
    const boxes = randomBoxes(5000, 5, where);
    const database = await treeOf(boxes, 512, extent);
    const [west, south, east, north] = where;
    expectFinds(database, boxes, [where, [west, south, (2 * west + east) / 3, (2 * south + north) / 3]]);
    database.close();
  });

  it("ordered on disk has leaves as small as one ordered in memory", async () => {
    const boxes = randomBoxes(20_000, 6, world);
    const sides = (side: "west" | "south" | "east" | "north") => boxes.map((box) => box[side]);
    const extent: Extent = [
      Math.min(...sides("west")),
      Math.min(...sides("south")),
      Math.max(...sides("east")),
      Math.max(...sides("north")),
    ];
    const area = async (most: number) => {
      const database = await treeOf(boxes, most, extent);
      const nodes = database
        .prepare("SELECT data FROM tree_node WHERE nodeno IN (SELECT nodeno FROM tree_rowid)")
        .all();
      database.close();
      return (nodes as { data: Buffer }[]).reduce((sum, { data }) => {
        const side = (n: number, least: boolean) => {
          const values = Array.from({ length: data.readUInt16BE(2) }, (_, k) =>
            data.readFloatBE(4 + 24 * k + 8 + 4 * n),
          );
          return least ? Math.min(...values) : Math.max(...values);
        };
        return sum + (side(1, false) - side(0, true)) * (side(3, false) - side(2, true));
      }, 0);
    };
    // Runs that were not merged would have leaves ten times as wide as high as they need be.
    expect(await area(1000)).toBeLessThan((await area(1 << 19)) * 1.05);
  });
});
