const clearCode = 256;
const endCode = 257;
const maxCodes = 4096;

/**
 * Decodes the LZW variant of TIFF (TIFF 6.0, section 13): codes of 9 to 12 bits, most significant bit first, with early
 * change of the width. Returns at most `most` bytes.
 * @throws Error for an undefined code
 */
export function decodeLzw(bytes: Uint8Array, most: number): Uint8Array {
  const result = new Uint8Array(most);
  // The bytes of a code are in the output already: those of the previous code and the byte after them.
  const starts = new Int32Array(maxCodes);
  const lengths = new Int32Array(maxCodes);
  let written = 0;
  let next = endCode + 1;
  let width = 9;
  let before = -1;
  let lengthBefore = 0;
  let bits = 0;
  let held = 0;
  let at = 0;
  while (written < most) {
    while (held < width && at < bytes.length) {
      bits = ((bits & 0xfff) << 8) | bytes[at++]!;
      held += 8;
    }
    if (held < width) break;
    held -= width;
    const code = (bits >>> held) & ((1 << width) - 1);
    if (code === endCode) break;
    if (code === clearCode) {
      next = endCode + 1;
      width = 9;
      before = -1;
      continue;
    }
    if (code > next || (code === next && before < 0)) throw new Error(`the code ${code} is not defined yet`);
    const begin = written;
    if (code < clearCode) result[written++] = code;
    else {
      const start = code === next ? before : starts[code]!;
      const length = code === next ? lengthBefore + 1 : lengths[code]!;
      for (let k = 0; k < length && written < most; k++) result[written++] = result[start + k]!;
    }
    if (before >= 0 && next < maxCodes) {
      starts[next] = before;
      lengths[next] = lengthBefore + 1;
      next++;
      if (next === (1 << width) - 1 && width < 12) width++;
    }
    before = begin;
    lengthBefore = written - begin;
  }
  return result.subarray(0, written);
}
