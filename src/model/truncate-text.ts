/** The longest beginning of a text that takes at most `bytes` bytes. @param sizeOf the bytes of a character; in UTF-8 by default */
export function truncateText(
  text: string,
  bytes: number,
  sizeOf: (character: string) => number = Buffer.byteLength,
): string {
  let cut = "";
  let size = 0;
  for (const character of text) {
    size += sizeOf(character);
    if (size > bytes) break;
    cut += character;
  }
  return cut;
}
