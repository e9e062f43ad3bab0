/** The longest beginning of a text that takes at most `bytes` bytes of UTF-8. */
export function truncateUtf8(text: string, bytes: number): string {
  let cut = "";
  let size = 0;
  for (const character of text) {
    size += Buffer.byteLength(character);
    if (size > bytes) break;
    cut += character;
  }
  return cut;
}
