/** Compresses with Snappy, in a kernel of constant memory. */
import { createKernelFactory } from "../../../src/model/kernel-factory.js";
import { wasm } from "../../shared/kernels/compiled/snappy-kernel.js";

/** The functions of `assembly/snappy-kernel.ts`; offsets are in `memory`. */
interface SnappyKernel {
  readonly memory: WebAssembly.Memory;
  sourceOffset(): number;
  targetOffset(): number;
  /** @returns the size of the compressed block */
  compress(size: number): number;
}

const createKernel = createKernelFactory<SnappyKernel>(wasm);

/** Blocks are compressed each for itself. */
const blockBytes = 1 << 16;
/** Bytes of the size that begins a stream. */
const maxHeaderBytes = 5;

/** Most bytes that `size` bytes can become: a literal and a copy of at least 65 bytes in all take one more than those. */
const maxCompressedBytes = (size: number): number => maxHeaderBytes + size + (size >> 6) + 8;

export class SnappyCompressor {
  private readonly kernel = createKernel();
  private readonly memory = new Uint8Array(this.kernel.memory.buffer);

  private result = Buffer.alloc(0);

  /** The result depends on the bytes alone. */
  compress(bytes: Uint8Array): Uint8Array {
    const { kernel, memory } = this;
    const source = kernel.sourceOffset();
    const target = kernel.targetOffset();
    const most = maxCompressedBytes(bytes.length);
    if (this.result.length < most) this.result = Buffer.allocUnsafeSlow(most);
    const { result } = this;
    let at = writeSize(result, bytes.length);
    for (let from = 0; from < bytes.length; from += blockBytes) {
      const block = bytes.subarray(from, from + blockBytes);
      memory.set(block, source);
      const size = kernel.compress(block.length);
      result.set(memory.subarray(target, target + size), at);
      at += size;
    }
    return Buffer.from(result.subarray(0, at));
  }
}

/** Writes the varint of the uncompressed size. @returns its end */
function writeSize(into: Uint8Array, size: number): number {
  let at = 0;
  let rest = size;
  for (; rest >= 0x80; rest >>>= 7) into[at++] = (rest & 0x7f) | 0x80;
  into[at++] = rest;
  return at;
}
