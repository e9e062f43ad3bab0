import type { SourceFile } from "../../../src/plugin/index.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import { isPageSize, type SqliteHeader } from "./header.js";
import { type PageOverlay, pageSizeMismatch } from "./pages.js";

const headerBytes = 32;
const frameHeader = 24;
const magics = [0x377f0682, 0x377f0683];

/** Cumulative checksum of a write-ahead log (file format, 4.2), over words of either byte order. */
class WalChecksum {
  first = 0;
  second = 0;

  constructor(private readonly big: boolean) {}

  add(bytes: Buffer, from: number, to: number): void {
    const view = dataViewOf(bytes);
    let { first, second } = this;
    for (let at = from; at < to; at += 8) {
      first = (first + view.getUint32(at, !this.big) + second) >>> 0;
      second = (second + view.getUint32(at + 4, !this.big) + first) >>> 0;
    }
    this.first = first;
    this.second = second;
  }

  is(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.first && bytes.readUInt32BE(at + 4) === this.second;
  }
}

/**
 * Reads the committed pages of a write-ahead log (file format, section 4) without a checkpoint: nothing is written. Null
 * if there are none.
 * @throws SqliteDamage if the page size differs from the database's
 */
export async function readWal(
  file: SourceFile,
  { pageSize: databasePageSize }: SqliteHeader,
): Promise<PageOverlay | null> {
  const head = await file.read(0, headerBytes);
  if (head.length < headerBytes || !magics.includes(head.readUInt32BE(0))) return null;
  const pageSize = head.readUInt32BE(8);
  if (!isPageSize(pageSize)) return null;
  const checksum = new WalChecksum(head.readUInt32BE(0) === magics[1]);
  checksum.add(head, 0, 24);
  if (!checksum.is(head, 24)) return null;
  const positions = new Map<number, number>();
  const pending = new Map<number, number>();
  let pageCount = 0;
  const size = frameHeader + pageSize;
  for (let at = headerBytes; at + size <= file.size; at += size) {
    const frame = await file.read(at, size);
    // Different salts: a leftover frame from before the last checkpoint, so the log ends here.
    if (frame.compare(head, 16, 24, 8, 16) !== 0) break;
    checksum.add(frame, 0, 8);
    checksum.add(frame, frameHeader, size);
    if (!checksum.is(frame, 16)) break;
    pending.set(frame.readUInt32BE(0), at + frameHeader);
    const committed = frame.readUInt32BE(4);
    if (committed === 0) continue;
    pageCount = committed;
    for (const [page, position] of pending) positions.set(page, position);
    pending.clear();
  }
  if (pageCount === 0) return null;
  if (pageSize !== databasePageSize) throw pageSizeMismatch("the write-ahead log", pageSize, databasePageSize);
  return { file, positions, pageCount };
}
