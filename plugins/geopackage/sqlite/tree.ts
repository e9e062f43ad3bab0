import type { DatabasePages } from "./pages.js";

/** Kinds of b-tree pages (file format, 1.6): of tables, whose keys are rowids. */
const interiorTablePage = 5;
const leafTablePage = 13;
/** No tree of 2³² pages is deeper. */
const maxTreeDepth = 32;

/** The first page has the file's header before its own. */
export const pageHeaderOffset = (page: number): number => (page === 1 ? 100 : 0);

/** Bytes that the smallest cell takes: as many as a block of free space. */
export const leastCell = 4;

/**
 * The bytes that cells take in a page, whose header stands `head` behind its start: what lies behind the beginning of
 * their area and is neither a free block nor a fragment (file format, 1.6). -1 where free blocks lead astray.
 */
export function takenBytes(bytes: Buffer, start: number, head: number, usable: number): number {
  const begin = bytes.readUInt16BE(start + head + 5) || 65_536;
  let taken = usable - begin - bytes[start + head + 7]!;
  for (let block = bytes.readUInt16BE(start + head + 1), last = begin - 1; block !== 0; ) {
    if (block <= last || block + leastCell > usable) return -1;
    taken -= bytes.readUInt16BE(start + block + 2);
    last = block;
    block = bytes.readUInt16BE(start + block);
  }
  return taken;
}

/** What SQLite's integrity_check looks for: cells that do not take the bytes that the page says they take. */
export const contradiction = (
  pages: DatabasePages,
  page: number,
  what: string,
  count: number,
  spent: number,
  taken: number,
) =>
  pages.damage(page, `its ${count} ${what} take ${spent} bytes, and it says ${taken}: ${what} are missing or repeated`);

/** Number of cells of a leaf page, whose bytes start at `start`. @throws SqliteDamage where it is none */
export function cellCount(pages: DatabasePages, page: number, bytes: Buffer, start: number): number {
  const at = start + pageHeaderOffset(page);
  if (bytes[at] !== leafTablePage) throw pages.damage(page, `should hold rows of a table, and is of kind ${bytes[at]}`);
  const count = bytes.readUInt16BE(at + 3);
  if (at + 8 + 2 * count > start + pages.header.usable) throw pages.damage(page, `has no room for ${count} rows`);
  return count;
}

/**
 * The leaf pages of a table, in the order of their rowids, together those that are under one page; only the pages above
 * them are read, unless the root is a leaf.
 * @param damaged is told of an interior page that cannot be followed; it throws, or what is under it is left out
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
      if (seen.has(page)) throw pages.damage(page, "occurs twice in the tree of a table");
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

/** How many levels of pages stand above the leaves: all branches of a b-tree are equally long. */
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
      if (kind !== interiorTablePage) throw pages.damage(page, `should belong to a table, and is of kind ${kind}`);
      page = readChildren(pages, page, bytes)[0]!;
    }
    throw pages.damage(root, "is the root of a tree that has no end");
  } catch (error) {
    damaged(error);
    return null;
  }
}

function readChildren(pages: DatabasePages, page: number, bytes: Buffer): number[] {
  const at = pageHeaderOffset(page);
  if (bytes[at] !== interiorTablePage) {
    throw pages.damage(page, `should lead to rows of a table, and is of kind ${bytes[at]}`);
  }
  const count = bytes.readUInt16BE(at + 3);
  if (at + 12 + 2 * count > pages.header.usable) throw pages.damage(page, `has no room for ${count} entries`);
  const children: number[] = [];
  let spent = 0;
  for (let i = 0; i < count; i++) {
    const cell = bytes.readUInt16BE(at + 12 + 2 * i);
    if (cell + 5 > pages.header.usable) throw pages.damage(page, `entry ${i} lies beyond its end`);
    children.push(bytes.readUInt32BE(cell));
    // A page's number and a rowid, a varint of up to nine bytes.
    let end = cell + 5;
    while (end < cell + 13 && bytes[end - 1]! >= 0x80) end++;
    spent += end - cell;
  }
  const taken = takenBytes(bytes, 0, at, pages.header.usable);
  if (taken >= 0 && taken !== spent) throw contradiction(pages, page, "entries", count, spent, taken);
  children.push(bytes.readUInt32BE(at + 8));
  return children;
}
