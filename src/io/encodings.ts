import { isAscii } from "node:buffer";
import { createRequire } from "node:module";
import { createError } from "../errors.js";
import type { Decode, WriterCapabilities } from "../plugin/format.js";

export type Encode = (text: string) => Uint8Array;

interface Codec {
  readonly decode: Decode;
  /** Created on first use. Absent for encodings that are only read. */
  readonly encoder?: () => Encode;
}

type Iconv = typeof import("iconv-lite");
let loadedIconv: Iconv | null = null;

/** Loaded on demand: its tables take long to load, and most files are UTF-8. */
function loadIconv(): Iconv {
  loadedIconv ??= createRequire(import.meta.url)("iconv-lite") as Iconv;
  return loadedIconv;
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Checks few bytes without a native call, which would cost more. */
function isShortAscii(bytes: Uint8Array): boolean {
  if (bytes.length > 32) return isAscii(bytes);
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at]! > 0x7f) return false;
  return true;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII contains them
const asciiPattern = /^[\u0000-\u007f]*$/;

/** For encodings that are supersets of ASCII. */
const withAsciiFastPath =
  (decode: Decode): Decode =>
  (bytes) =>
    isShortAscii(bytes) ? asBuffer(bytes).toString("latin1") : decode(bytes);

const withAsciiFastEncode =
  (encode: Encode): Encode =>
  (text) =>
    asciiPattern.test(text) ? Buffer.from(text, "latin1") : encode(text);

const utf8: Codec = {
  decode: withAsciiFastPath((bytes) => asBuffer(bytes).toString("utf8")),
  encoder: () => (text) => Buffer.from(text, "utf8"),
};

function utf16Codec(label: "utf-16le" | "utf-16be"): Codec {
  const decoder = new TextDecoder(label, { ignoreBOM: true });
  return {
    decode: (bytes) => decoder.decode(bytes),
    encoder: () => (text) => {
      const bytes = Buffer.from(text, "utf16le");
      return label === "utf-16be" ? bytes.swap16() : bytes;
    },
  };
}

const asciiCharacters = String.fromCharCode(...Array.from({ length: 128 }, (_, code) => code));

/** The upper half of windows-1252, which the WHATWG standard also uses for latin1 (Encoding, index windows-1252). */
const windows1252UpperHalf =
  "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ" +
  Array.from({ length: 96 }, (_, index) => String.fromCharCode(0xa0 + index)).join("");

/** @param characters the characters of the bytes 0 to 255 */
function singleByteCodec(characters: string): Codec {
  const codes = Uint16Array.from(characters, (character) => character.charCodeAt(0));
  const holdsAscii = codes.subarray(0, 128).every((code, byte) => code === byte);
  const each = [...characters];
  const decode: Decode = (bytes) => {
    // For short values such as table cells, concatenation is faster than a buffer.
    if (bytes.length <= 64) {
      let short = "";
      for (let at = 0; at < bytes.length; at += 1) short += each[bytes[at]!]!;
      return short;
    }
    const text = new Uint16Array(bytes.length);
    for (let at = 0; at < bytes.length; at += 1) text[at] = codes[bytes[at]!]!;
    return Buffer.from(text.buffer).toString("utf16le");
  };
  const encoder = (): Encode => {
    const byteOf = new Uint8Array(1 << 16).fill(0x3f);
    for (let byte = 255; byte >= 0; byte -= 1) if (codes[byte] !== 0xfffd) byteOf[codes[byte]!] = byte;
    const encode: Encode = (text) => {
      const bytes = Buffer.allocUnsafe(text.length);
      let length = 0;
      for (let at = 0; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        bytes[length] = byteOf[code]!;
        length += 1;
        const isPair = code >= 0xd800 && code < 0xdc00 && text.charCodeAt(at + 1) >> 10 === 0x37;
        if (isPair) at += 1;
      }
      return bytes.subarray(0, length);
    };
    return holdsAscii ? withAsciiFastEncode(encode) : encode;
  };
  return { decode: holdsAscii ? withAsciiFastPath(decode) : decode, encoder };
}

const allBytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const singleByteLabels = /^(ibm866|iso-8859-|koi8-|macintosh|windows-|x-mac-cyrillic)/;

/** The codec of an encoding of the WHATWG standard, by one of its labels; null for other encodings. */
function whatwgCodec(label: string): Codec | null {
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(label, { ignoreBOM: true });
  } catch {
    return null;
  }
  const name = decoder.encoding;
  if (name === "utf-8") return utf8;
  if (name === "utf-16le" || name === "utf-16be") return utf16Codec(name);
  if (name === "windows-1252") {
    return singleByteCodec(asciiCharacters + windows1252UpperHalf);
  }
  if (singleByteLabels.test(name)) {
    const characters = decoder.decode(allBytes);
    // The lower half is ASCII in all of them; ICU swaps three control characters of ibm866 as DOS did.
    if (characters.length === 256) return singleByteCodec(asciiCharacters + characters.slice(128));
  }
  const decode: Decode = (bytes) => decoder.decode(bytes);
  if (name === "iso-2022-jp") return { decode };
  const encoder = () => withAsciiFastEncode((text) => loadIconv().encode(text, name));
  return { decode: withAsciiFastPath(decode), ...(loadIconv().encodingExists(name) ? { encoder } : {}) };
}

/** The codec of a DOS, Macintosh or other code page that the WHATWG standard does not define. */
function iconvCodec(label: string): Codec | null {
  if (!/^(cp|ibm|mac|iso|koi8|windows|tis|armscii|viscii|hproman|tcvn|pt154|rk1048|georgian|mik|gb|big5)/.test(label))
    return null;
  if (!loadIconv().encodingExists(label)) return null;
  const characters = loadIconv().decode(Buffer.from(allBytes), label);
  if (characters.length === 256) return singleByteCodec(characters);
  return {
    decode: (bytes) => loadIconv().decode(asBuffer(bytes), label),
    encoder: () => (text) => loadIconv().encode(text, label),
  };
}

/** Windows code page numbers whose encoding is not named "windows-" or "cp" and the number. */
const codePageNumbers: Readonly<Record<string, string>> = {
  "65001": "utf-8",
  "1200": "utf-16le",
  "1201": "utf-16be",
  "20127": "windows-1252",
  "932": "shift_jis",
  "936": "gbk",
  "949": "euc-kr",
  "950": "big5",
  "54936": "gb18030",
  "51932": "euc-jp",
  "20866": "koi8-r",
  "21866": "koi8-u",
  "10000": "macintosh",
  "10007": "x-mac-cyrillic",
};

/** Converts `ANSI 1252`, `OEM 850`, `cp1252`, `1252`, `88591` or `ISO8859_15` to a standard name. */
function canonicalEncodingName(name: string): string {
  const text = name.trim().toLowerCase();
  const number = /^(?:ansi|oem|cp|ms|win|windows|ibm|dos|codepage)?[ _-]*(\d{3,5})$/.exec(text)?.[1];
  const iso = /^(?:iso[ _-]*)?(?:8859[ _-]*|2859(?=\d$)|286(?=0\d$))(\d{1,2})$/.exec(text)?.[1];
  if (iso !== undefined) return `iso-8859-${Number(iso)}`;
  if (number === undefined) return text;
  if (/^(874|125\d)$/.test(number)) return `windows-${number}`;
  return codePageNumbers[number] ?? `cp${number}`;
}

const codecs = new Map<string, Codec>();

/** @throws option-invalid */
function findCodec(name: string): Codec {
  const known = codecs.get(name);
  if (known) return known;
  const label = canonicalEncodingName(name);
  const codec = whatwgCodec(label) ?? iconvCodec(label);
  if (!codec) {
    const expected =
      "an encoding that geoferry knows (utf-8, utf-16le, windows-1252, iso-8859-15, cp850, shift_jis, gbk …)";
    throw createError("option-invalid", { option: "encoding", value: name, expected });
  }
  codecs.set(name, codec);
  return codec;
}

/**
 * Returns the decoder of an encoding: those of the WHATWG Encoding standard (so `latin1` is windows-1252), and DOS and
 * Macintosh code pages, also by number. Invalid bytes become U+FFFD; a byte order mark is kept.
 * @throws option-invalid
 */
export function findDecoder(name: string): Decode {
  return findCodec(name).decode;
}

const encoders = new Map<Codec, Encode>();

/**
 * Returns the encoder of an encoding. Characters that it lacks become `?`. The caller owns the returned bytes.
 * @throws option-invalid
 */
export function findEncoder(name: string): Encode {
  const codec = findCodec(name);
  const made = encoders.get(codec) ?? codec.encoder?.();
  if (!made)
    throw createError("option-invalid", {
      option: "encoding",
      value: name,
      expected: "an encoding that can be written",
    });
  encoders.set(codec, made);
  return made;
}

/** The encoder of field names in a target whose names are not in UTF-8. @throws option-invalid */
export const findNameEncoder = ({ fieldNames }: Pick<WriterCapabilities, "fieldNames">): Encode | undefined =>
  fieldNames?.encoding === undefined ? undefined : findEncoder(fieldNames.encoding);
