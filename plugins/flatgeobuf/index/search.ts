/** Finds the features in a packed R-tree whose boxes meet others. */
import type { Extent } from "../../../src/model/index.js";
import type { SourceFile } from "../../../src/plugin/index.js";
import { FlatDamage } from "../header/flat-reader.js";
import type { IndexPlan } from "../read/plan.js";
import { entryBytes, entryOffsetAt } from "./levels.js";
import { RangeMerger } from "./merge-ranges.js";

/** Consecutive entries that are read together, at most. */
const maxEntriesRead = 1 << 14;

/** A feature that the search found: its number, and where it is, from the first feature. */
export interface Hit {
  readonly feature: number;
  readonly from: number;
  /** Its end; null for the last one, which ends with the file. */
  readonly to: number | null;
}

/** The features that meet one of the boxes, in their order. @throws FlatDamage */
export async function* searchTree(file: SourceFile, index: IndexPlan, boxes: readonly Extent[]): AsyncGenerator<Hit> {
  const { levels, nodeSize } = index;
  const leaves = levels[0]!;
  // Nodes by the index of their first entry, all of one level.
  let nodes = [0];
  for (let n = levels.length - 1; n > 0; n--) {
    const below = levels[n - 1]!;
    const children: number[] = [];
    for await (const { view, from, to } of readNodes(file, index, n, nodes)) {
      for (let entry = from; entry < to; entry++) {
        const at = (entry - from) * entryBytes;
        const child = Number(view.getBigUint64(at + entryOffsetAt, true));
        // Each node has as many entries as fit, so that its place is known. Checked whether the box is met or not: in an
        // index of zeros, none is.
        if (child !== below.from + (entry - levels[n]!.from) * nodeSize)
          throw new FlatDamage("an entry of the index has another place than its number demands");
        if (meets(view, at, boxes)) children.push(child);
      }
    }
    nodes = children;
  }
  for await (const { view, from, to, more } of readNodes(file, index, 0, nodes)) {
    let previous = from === leaves.from ? -1 : 0;
    for (let entry = from; entry < to; entry++) {
      const at = (entry - from) * entryBytes;
      const offset = Number(view.getBigUint64(at + entryOffsetAt, true));
      if (offset <= previous) throw new FlatDamage("the features in the index are not in the order of their places");
      previous = offset;
      if (!meets(view, at, boxes)) continue;
      const hasNext = entry + 1 < to || more;
      const next = hasNext ? Number(view.getBigUint64(at + entryBytes + entryOffsetAt, true)) : null;
      yield { feature: entry - leaves.from, from: offset, to: next };
    }
  }
}

interface ReadEntries {
  readonly view: DataView;
  readonly from: number;
  readonly to: number;
  /** Whether the entry after the last is in the view, too. */
  readonly more: boolean;
}

/** Reads the entries of nodes of a level; neighbors together. */
async function* readNodes(
  file: SourceFile,
  { at, levels, nodeSize }: IndexPlan,
  level: number,
  nodes: readonly number[],
): AsyncGenerator<ReadEntries> {
  const end = levels[level]!.to;
  const merger = new RangeMerger(maxEntriesRead);
  const read = async ([from, to]: readonly [number, number]): Promise<ReadEntries> => {
    const more = level === 0 && to < end;
    const count = to - from + (more ? 1 : 0);
    const bytes = await file.read(at + from * entryBytes, count * entryBytes);
    if (bytes.length < count * entryBytes) throw new FlatDamage("the file ends within its index");
    return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), from, to, more };
  };
  for (const node of nodes) {
    const finished = merger.add(node, Math.min(node + nodeSize, end));
    if (finished) yield await read(finished);
  }
  const last = merger.finish();
  if (last) yield await read(last);
}

function meets(view: DataView, at: number, boxes: readonly Extent[]): boolean {
  const minX = view.getFloat64(at, true);
  const minY = view.getFloat64(at + 8, true);
  const maxX = view.getFloat64(at + 16, true);
  const maxY = view.getFloat64(at + 24, true);
  return boxes.some((box) => minX <= box[2] && maxX >= box[0] && minY <= box[3] && maxY >= box[1]);
}
