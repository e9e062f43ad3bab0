import type { SourceFile } from "../../../src/plugin/index.js";
import { isPageSize, type SqliteHeader } from "./header.js";
import { type PageOverlay, pageSizeMismatch } from "./pages.js";

const magic = Buffer.from("d9d505f920a163d7", "hex");

function checksumOf(page: Buffer, nonce: number): number {
  let sum = nonce;
  for (let at = page.length - 200; at > 0; at -= 200) sum = (sum + page[at]!) >>> 0;
  return sum;
}

/**
 * Reads the original pages of an uncommitted transaction from a rollback journal (file format, section 3). Null if the
 * journal is empty or invalid, as after a commit. Like SQLite, stops at the first invalid record: the rest had not
 * reached the disk.
 * @throws SqliteDamage if the page size differs from the database's
 */
export async function readJournal(file: SourceFile, { pageSize }: SqliteHeader): Promise<PageOverlay | null> {
  const positions = new Map<number, number>();
  let pageCount = 0;
  for (let at = 0, isWhole = true; isWhole; ) {
    const head = await file.read(at, 28);
    if (head.length < 28 || head.compare(magic, 0, 8, 0, 8) !== 0) break;
    const [counted, nonce, before, sector, size] = [8, 12, 16, 20, 24].map((offset) => head.readUInt32BE(offset));
    if (!isPageSize(size!) || sector! < 32) break;
    if (size !== pageSize) throw pageSizeMismatch("the journal", size!, pageSize);
    if (pageCount === 0) pageCount = before!;
    const record = pageSize + 8;
    const room = Math.max(0, Math.floor((file.size - at - sector!) / record));
    const records = Math.min(counted === 0xffffffff ? room : counted!, room);
    for (let n = 0; n < records && isWhole; n++) {
      const position = at + sector! + n * record;
      const entry = await file.read(position, record);
      const page = entry.readUInt32BE(0);
      if (page > pageCount) continue;
      isWhole = page > 0 && entry.readUInt32BE(4 + pageSize) === checksumOf(entry.subarray(4, 4 + pageSize), nonce!);
      if (isWhole) positions.set(page, position + 4);
    }
    const end = at + sector! + records * record;
    at = Math.ceil(end / sector!) * sector!;
  }
  return pageCount === 0 ? null : { file, positions, pageCount };
}
