import type { ScratchFile } from "../../shared/scratch-file.js";

/** Number of boxes in memory: enough for the leaves of a tree that is sorted without a temporary file. */
const boxesPerBlock = 1 << 14;

/** Boxes of the nodes of one tree level, in order; spills to disk. */
export class LevelBoxes {
  length = 0;
  private block = new Float32Array(4 * 256);
  private start = -1;
  /** Number of boxes on disk. */
  private written = 0;

  /** @param scratch null: keep all boxes in memory */
  constructor(private readonly scratch: ScratchFile | null) {}

  add(box: Float32Array): void {
    const at = 4 * (this.length - this.written);
    if (at === this.block.length) this.makeRoom();
    this.block.set(box, 4 * (this.length - this.written));
    this.length++;
  }

  private makeRoom(): void {
    const { block, scratch } = this;
    if (block.length < 4 * boxesPerBlock || !scratch) {
      this.block = new Float32Array(2 * block.length);
      this.block.set(block);
      return;
    }
    if (this.start < 0) this.start = scratch.size;
    scratch.write(viewBytes(block), scratch.size);
    this.written = this.length;
  }

  /** Visits the boxes in order; each is `boxes[at … at + 4]`. */
  each(visit: (boxes: Float32Array, at: number) => void): void {
    const { scratch, block, start, written, length } = this;
    if (scratch && written > 0) {
      const read = new Float32Array(block.length);
      for (let done = 0; done < written; done += boxesPerBlock) {
        scratch.read(viewBytes(read), start + 16 * done);
        for (let at = 0; at < read.length; at += 4) visit(read, at);
      }
    }
    for (let at = 0; at < 4 * (length - written); at += 4) visit(block, at);
  }
}

const viewBytes = (boxes: Float32Array): Uint8Array => new Uint8Array(boxes.buffer, boxes.byteOffset, boxes.byteLength);
