import { createKernelFactory } from "../model/kernel-factory.js";
import { wasm } from "./kernels/compiled/digest-kernel.js";

/** The functions of `kernels/assembly/digest-kernel.ts`; arrays are offsets in `memory`. */
interface DigestKernel {
  readonly memory: WebAssembly.Memory;
  reserve(count: number): void;
  digestsAt(): number;
  repeatsAt(): number;
  join(count: number, level: number): number;
}

export const createDigestKernel = createKernelFactory<DigestKernel>(wasm);
