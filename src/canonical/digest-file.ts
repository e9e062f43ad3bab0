import { closeSync, openSync, readSync } from "node:fs";
import { writeFully } from "./whole-reads.js";

/** Bytes of a digest: the first half of a SHA-256. */
export const digestBytes = 16;

/** Digests of a block that is read at once. */
const blockDigests = 65_536;

/** Whole digests of consecutive rows. The block is valid until the next one. */
export interface DigestBlock {
  readonly firstRow: number;
  readonly digests: Buffer;
}

/** A digest of each row, in order. */
export interface DigestList {
  readonly rows: number;
  digestBlocks(): Generator<DigestBlock>;
}

/** Digests in a temporary file. Rows count from 0. */
export class DigestFile implements DigestList, Disposable {
  rows = 0;
  private readonly handle: number;

  /** @param path of the new file */
  constructor(readonly path: string) {
    this.handle = openSync(path, "wx+", 0o600);
  }

  /** @throws system errors */
  add(digests: Uint8Array): void {
    writeFully(this.handle, digests);
    this.rows += digests.length / digestBytes;
  }

  *digestBlocks(): Generator<DigestBlock> {
    const block = Buffer.allocUnsafe(digestBytes * blockDigests);
    for (let position = 0, end = this.rows * digestBytes; position < end; ) {
      const read = readSync(this.handle, block, 0, Math.min(block.length, end - position), position);
      const whole = read - (read % digestBytes);
      if (whole === 0) throw new Error("the digests are incomplete");
      yield { firstRow: position / digestBytes, digests: block.subarray(0, whole) };
      position += whole;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.handle);
  }
}
