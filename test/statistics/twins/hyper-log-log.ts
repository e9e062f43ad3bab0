/** The HyperLogLog of `src/statistics/kernels` in TypeScript. */
import { registerCount } from "../../../src/statistics/sketches/hyper-log-log.js";

const precision = Math.log2(registerCount);
/** Bits of a hash behind the index. */
const restBits = 32;

export class HyperLogLog {
  readonly registers = new Uint8Array(registerCount);

  /** Adds a value by the two words of its hash. */
  add(low: number, high: number): void {
    const at = low >>> (32 - precision);
    const rank = high === 0 ? restBits + 1 : Math.clz32(high) + 1;
    if (rank > this.registers[at]!) this.registers[at] = rank;
  }

  merge(other: Uint8Array): void {
    for (let k = 0; k < registerCount; k++) if (other[k]! > this.registers[k]!) this.registers[k] = other[k]!;
  }
}
