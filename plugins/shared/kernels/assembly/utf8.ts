/** Whether the bytes `from … to` are UTF-8 (RFC 3629, section 4). */
export function isUtf8(from: usize, to: usize): bool {
  let at = from;
  while (at < to) {
    if (at + 16 <= to && !v128.any_true(v128.and(v128.load(at), i8x16.splat(-128)))) {
      at += 16;
      continue;
    }
    const lead = <u32>load<u8>(at++);
    if (lead < 0x80) continue;
    const more: usize = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (lead < 0xc2 || lead > 0xf4 || at + more > to) return false;
    const next = <u32>load<u8>(at);
    // Excludes overlong forms, surrogates and code points beyond U+10FFFF.
    const least: u32 = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const most: u32 = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (next < least || next > most) return false;
    for (let n: usize = 1; n < more; n++) if ((load<u8>(at + n) & 0xc0) !== 0x80) return false;
    at += more;
  }
  return true;
}
