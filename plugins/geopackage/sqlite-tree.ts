import type { Pages } from "./sqlite-pages.js";

/** Kinds of b-tree pages (file format, 1.6): of tables, whose keys are rowids. */
const interiorTable = 5;
const leafTable = 13;
/** No tree of 2³² pages is deeper. */
const deepest = 32;

/** The first page has the file's header before its own. */
export const headOf = (page: number): number => (page === 1 ? 100 : 0);

/** Number of cells of a leaf page, whose bytes start at `start`. @throws SqliteDamage where it is none */
export function cellCount(pages: Pages, page: number, bytes: Buffer, start: number): number {
  const at = start + headOf(page);
  if (bytes[at] !== leafTable) throw pages.damage(page, `should hold rows of a table, and is of kind ${bytes[at]}`);
  const count = bytes.readUInt16BE(at + 3);
  if (at + 8 + 2 * count > start + pages.header.usable) throw pages.damage(page, `has no room for ${count} rows`);
  return count;
}

/**
 * The leaf pages of a table, in the order of their rowids, together those that are under one page; only the pages above
 * them are read, unless the root is a leaf.
 * @param damaged is told of an interior page that cannot be followed; it throws, or what is under it is left out
 */
export async function* leavesOf(
  pages: Pages,
  root: number,
  damaged: (error: unknown) => void,
): AsyncGenerator<readonly number[]> {
  const seen = new Set<number>();
  const depth = await heightOf(pages, root, damaged);
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
      children = childrenOf(pages, page, await pages.page(page));
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
async function heightOf(pages: Pages, root: number, damaged: (error: unknown) => void): Promise<number | null> {
  try {
    let page = root;
    for (let height = 0; height < deepest; height++) {
      const bytes = await pages.page(page);
      const kind = bytes[headOf(page)]!;
      if (kind === leafTable) return height;
      if (kind !== interiorTable) throw pages.damage(page, `should belong to a table, and is of kind ${kind}`);
      page = childrenOf(pages, page, bytes)[0]!;
    }
    throw pages.damage(root, "is the root of a tree that has no end");
  } catch (error) {
    damaged(error);
    return null;
  }
}

function childrenOf(pages: Pages, page: number, bytes: Buffer): number[] {
  const at = headOf(page);
  if (bytes[at] !== interiorTable) {
    throw pages.damage(page, `should lead to rows of a table, and is of kind ${bytes[at]}`);
  }
  const count = bytes.readUInt16BE(at + 3);
  if (at + 12 + 2 * count > pages.header.usable) throw pages.damage(page, `has no room for ${count} entries`);
  const children: number[] = [];
  for (let i = 0; i < count; i++) {
    const cell = bytes.readUInt16BE(at + 12 + 2 * i);
    if (cell + 5 > pages.header.usable) throw pages.damage(page, `entry ${i} lies beyond its end`);
    children.push(bytes.readUInt32BE(cell));
  }
  children.push(bytes.readUInt32BE(at + 8));
  return children;
}
