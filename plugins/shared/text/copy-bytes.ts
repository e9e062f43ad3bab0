/**
 * Copies `source[from … to]` to `at`, four bytes at a time. Below a few hundred bytes this is cheaper than a native
 * copy and the subarray that it needs.
 * @returns the offset after the copied bytes
 */
export function copyShort(source: DataView, from: number, to: number, target: DataView, at: number): number {
  let next = from;
  let into = at;
  for (; next <= to - 4; next += 4, into += 4) target.setInt32(into, source.getInt32(next));
  for (; next < to; next++, into++) target.setUint8(into, source.getUint8(next));
  return into;
}
