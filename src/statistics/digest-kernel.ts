import { createKernelFactory } from "../model/kernel-factory.js";
import { wasm } from "./kernels/compiled/digest-kernel.js";

/** The functions of `kernels/assembly/digest-kernel.ts`; arrays are offsets in `memory`. */
export interface DigestKernel {
  readonly memory: WebAssembly.Memory;
  reserve(count: number, withRepeats: boolean): void;
  digestsAt(): number;
  repeatsAt(): number;
  repeatedDigests(): number;
  join(count: number, level: number): number;
}

export const createDigestKernel = createKernelFactory<DigestKernel>(wasm);
