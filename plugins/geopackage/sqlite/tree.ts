import type { DatabasePages } from "./pages.js";

/** Types of table b-tree pages (file format, 1.6). */
const interiorTablePage = 5;
const leafTablePage = 13;
/** Upper bound for the depth of a tree of 2³² pages. */
const maxTreeDepth = 32;

/** The file header precedes the page header on page 1. */
export const pageHeaderOffset = (page: number): number => (page === 1 ? 100 : 0);

/** Minimum size of a cell: that of a free block. */
export const minCellBytes = 4;

/**
 * Total size of the cells of a page: the cell content area without free blocks and fragments (file format, 1.6). -1 if
 * the list of free blocks is invalid.
 * @param head offset of the page header from `start`
 */
export function usedCellBytes(bytes: Buffer, start: number, head: number, usable: number): number {
  const begin = bytes.readUInt16BE(start + head + 5) || 65_536;
  let taken = usable - begin - bytes[start + head + 7]!;
  for (let block = bytes.readUInt16BE(start + head + 1), last = begin - 1; block !== 0; ) {
    if (block <= last || block + minCellBytes > usable) return -1;
    taken -= bytes.readUInt16BE(start + block + 2);
    last = block;
    block = bytes.readUInt16BE(start + block);
  }
  return taken;
}

/** Damage of a page whose cells do not have the total size that its free-space fields imply. */
export const cellBytesMismatch = (
  pages: DatabasePages,
  page: number,
  what: string,
  count: number,
  spent: number,
  taken: number,
) => pages.damage(page, `${count} ${what} have ${spent} bytes instead of ${taken}: ${what} are missing or repeated`);

/** Number of cells of the leaf page at `bytes[start]`. @throws SqliteDamage if it is not a leaf page */
export function cellCount(pages: DatabasePages, page: number, bytes: Buffer, start: number): number {
  const at = start + pageHeaderOffset(page);
  if (bytes[at] !== leafTablePage) throw pages.damage(page, `expected a table leaf page, found page type ${bytes[at]}`);
  const count = bytes.readUInt16BE(at + 3);
  if (at + 8 + 2 * count > start + pages.header.usable) throw pages.damage(page, `has no room for ${count} rows`);
  return count;
}

/**
 * Yields the leaf pages of a table in rowid order, grouped by parent. Reads only interior pages, unless the root is a
 * leaf.
 * @param damaged called for a damaged interior page; unless it throws, the pages below are skipped
 */
export async function* readLeaves(
  pages: DatabasePages,
  root: number,
  damaged: (error: unknown) => void,
): AsyncGenerator<readonly number[]> {
  const seen = new Set<number>();
  const depth = await readTreeHeight(pages, root, damaged);
  if (depth === null) return;
  async function* below(page: number, height: number): AsyncGenerator<readonly number[]> {
    if (height === 0) {
      yield [page];
      return;
    }
    let children: readonly number[];
    try {
      if (seen.has(page)) throw pages.damage(page, "occurs twice in the b-tree of a table");
      seen.add(page);
      children = readChildren(pages, page, await pages.page(page));
    } catch (error) {
      damaged(error);
      return;
    }
    if (height === 1) yield children;
    else for (const child of children) yield* below(child, height - 1);
  }
  yield* below(root, depth);
}

/** Number of levels above the leaves, the same for all branches; null if a damaged page was skipped. */
async function readTreeHeight(
  pages: DatabasePages,
  root: number,
  damaged: (error: unknown) => void,
): Promise<number | null> {
  try {
    let page = root;
    for (let height = 0; height < maxTreeDepth; height++) {
      const bytes = await pages.page(page);
      const kind = bytes[pageHeaderOffset(page)]!;
      if (kind === leafTablePage) return height;
      if (kind !== interiorTablePage) throw pages.damage(page, `expected a table page, found page type ${kind}`);
      page = readChildren(pages, page, bytes)[0]!;
    }
    throw pages.damage(root, `the b-tree of this root is deeper than ${maxTreeDepth} levels`);
  } catch (error) {
    damaged(error);
    return null;
  }
}

function readChildren(pages: DatabasePages, page: number, bytes: Buffer): number[] {
  const at = pageHeaderOffset(page);
  if (bytes[at] !== interiorTablePage) {
    throw pages.damage(page, `expected a table interior page, found page type ${bytes[at]}`);
  }
  const count = bytes.readUInt16BE(at + 3);
  if (at + 12 + 2 * count > pages.header.usable) throw pages.damage(page, `has no room for ${count} entries`);
  const children: number[] = [];
  let spent = 0;
  for (let i = 0; i < count; i++) {
    const cell = bytes.readUInt16BE(at + 12 + 2 * i);
    if (cell + 5 > pages.header.usable) throw pages.damage(page, `entry ${i} extends beyond the page`);
    children.push(bytes.readUInt32BE(cell));
    // A cell is a page number and a rowid, a varint of up to nine bytes.
    let end = cell + 5;
    while (end < cell + 13 && bytes[end - 1]! >= 0x80) end++;
    spent += end - cell;
  }
  const taken = usedCellBytes(bytes, 0, at, pages.header.usable);
  if (taken >= 0 && taken !== spent) throw cellBytesMismatch(pages, page, "entries", count, spent, taken);
  children.push(bytes.readUInt32BE(at + 8));
  return children;
}
