/**
 * Text that is written repeatedly, stored as doubles, the widest unit of a single write. None of them is a NaN, whose
 * bits might not be preserved: in UTF-8 no byte 0x7f follows one from 0xf0 on, and 0xff does not occur.
 */
export class EncodedText {
  /** Little-endian; the last one is padded with zeros. */
  readonly words: Float64Array;
  /** Length in UTF-8 bytes. */
  readonly size: number;

  constructor(text: string) {
    this.size = Buffer.byteLength(text);
    const bytes = Buffer.alloc(Math.ceil(this.size / 8) * 8);
    bytes.write(text);
    this.words = Float64Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i));
  }
}

/** The tags of an element without attributes. */
export interface TagPair {
  readonly open: EncodedText;
  readonly close: EncodedText;
}

export const tagPair = (element: string): TagPair => ({
  open: new EncodedText(`<${element}>`),
  close: new EncodedText(`</${element}>`),
});
