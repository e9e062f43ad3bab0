/** The meaning of bytes in XML 1.0, and the delimiters of its constructs. */

export const ampersandByte = 38;
export const carriageReturn = 13;
export const lineFeed = 10;
export const lessThan = 60;
export const greaterThan = 62;
export const equals = 61;
export const slash = 47;
export const exclamation = 33;
export const question = 63;
export const quotation = 34;
export const apostrophe = 39;
export const closingBracket = 93;

/** Control characters that XML does not allow (section 2.2), for a character class of a regular expression. */
export const forbiddenControls = "\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f";

/** White space, by section 2.3. */
export const isSpace = (byte: number): boolean =>
  byte === 32 || byte === lineFeed || byte === 9 || byte === carriageReturn;

/** The meaning of a byte in text or in an attribute value. */
export const ByteClass = {
  none: 0,
  /** A tag begins. */
  tag: 1,
  /** It needs decoding. */
  encoded: 2,
  /** XML does not allow it. */
  forbidden: 3,
  quote: 4,
} as const;

export const textByteClasses = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === lessThan
    ? ByteClass.tag
    : byte === ampersandByte || byte === carriageReturn
      ? ByteClass.encoded
      : byte < 32 && byte !== 9 && byte !== lineFeed
        ? ByteClass.forbidden
        : ByteClass.none,
);
/** Classes of bytes in an attribute value, where line feeds and tabs become blanks (section 3.3.3). */
export const valueByteClasses = textByteClasses.map((meaning, byte) =>
  byte === quotation || byte === apostrophe
    ? ByteClass.quote
    : byte === 9 || byte === lineFeed
      ? ByteClass.encoded
      : meaning,
);
/** Classes of bytes in a CDATA section, which a bracket may end. */
export const cdataByteClasses = textByteClasses.map((meaning, byte) =>
  byte === closingBracket ? ByteClass.tag : byte === lessThan || byte === ampersandByte ? ByteClass.none : meaning,
);
/** 1 for bytes that a name can contain; all bytes beyond ASCII are accepted. */
export const nameBytes = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 128 || /[\w:.-]/.test(String.fromCharCode(byte)) ? 1 : 0,
);

export const markupOpening = Buffer.from("<!");
export const doctypeOpening = Buffer.from("<!DOCTYPE");
export const cdataOpening = Buffer.from("<![CDATA[");
export const cdataEnd = Buffer.from("]]>");
export const commentOpening = Buffer.from("<!--");
export const commentEnd = Buffer.from("-->");
export const processingInstructionEnd = Buffer.from("?>");

/** Whether `bytes` contains `wanted` at `at`. */
export function startsWithBytes(wanted: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let i = 0; i < wanted.length; i++) if (wanted[i] !== bytes[at + i]) return false;
  return true;
}
