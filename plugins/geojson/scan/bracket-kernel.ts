import { wasm } from "../../shared/kernels/compiled/brackets-kernel.js";

/** The functions of `plugins/shared/kernels/assembly/brackets-kernel.ts`; offsets are in `memory`. */
interface Kernel {
  readonly memory: WebAssembly.Memory;
  reserve(bytes: number): number;
  /** @returns 0 at the end of the block, 1 at a boundary, 2 behind the bracket that closes the level */
  descend(from: number, length: number, depth: number, inString: boolean, stop: number): number;
  offset(): number;
  level(): number;
  isInString(): number;
}

let compiled: WebAssembly.Module | undefined;

/** Counts the brackets of one block after the other. */
export class BracketKernel {
  private readonly kernel: Kernel;
  private readonly memory: Uint8Array;

  constructor(blockBytes: number) {
    compiled ??= new WebAssembly.Module(Buffer.from(wasm, "base64"));
    this.kernel = new WebAssembly.Instance(compiled).exports as unknown as Kernel;
    const at = this.kernel.reserve(blockBytes);
    this.memory = new Uint8Array(this.kernel.memory.buffer, at, blockBytes);
  }

  load(block: Uint8Array): void {
    this.memory.set(block);
  }

  /** As `BracketScanner.descend`, from byte `at` of the block. @returns a number of `descend` */
  descend(at: number, length: number, depth: number, inString: boolean, stop: number): number {
    return this.kernel.descend(at, length, depth, inString, stop);
  }

  get at(): number {
    return this.kernel.offset();
  }

  get depth(): number {
    return this.kernel.level();
  }

  get inString(): boolean {
    return this.kernel.isInString() !== 0;
  }
}
