/** A text encoding of tables: the decoder's name, and its identifiers in .dbf and .cpg files. */
interface CodePage {
  readonly encoding: string;
  /** Language bytes of the DBF header (offset 29); the first is the one written. */
  readonly languages: readonly number[];
  /** Names in a .cpg, reduced to lower-case letters and digits; the first is the code page's number. */
  readonly words: readonly string[];
}

/**
 * Language bytes of dBASE, FoxPro and ESRI, and the code pages they stand for. 0x57 is left out: ESRI writes it for
 * "ANSI", regardless of the code page of the machine, UTF-8 included.
 */
export const codePages: readonly CodePage[] = [
  { encoding: "utf-8", languages: [], words: ["65001", "utf8", "utf8mb4", "unicode"] },
  { encoding: "windows-1252", languages: [0x03, 0x58, 0x59], words: ["1252", "windows1252", "cp1252"] },
  { encoding: "cp437", languages: [0x01, 0x09, 0x0b, 0x0d, 0x0f, 0x11, 0x15, 0x18, 0x19, 0x1b], words: ["437"] },
  {
    encoding: "cp850",
    languages: [0x02, 0x0a, 0x0e, 0x10, 0x12, 0x14, 0x16, 0x1a, 0x1d, 0x25, 0x37],
    words: ["850"],
  },
  { encoding: "cp852", languages: [0x64, 0x1f, 0x22, 0x23, 0x40, 0x87], words: ["852"] },
  { encoding: "cp866", languages: [0x65, 0x26], words: ["866"] },
  { encoding: "cp865", languages: [0x66, 0x08, 0x17], words: ["865"] },
  { encoding: "cp861", languages: [0x67], words: ["861"] },
  { encoding: "cp860", languages: [0x24], words: ["860"] },
  { encoding: "cp863", languages: [0x6c, 0x1c], words: ["863"] },
  { encoding: "cp737", languages: [0x6a, 0x86], words: ["737"] },
  { encoding: "cp857", languages: [0x6b, 0x88], words: ["857"] },
  { encoding: "cp874", languages: [0x7c, 0x50], words: ["874", "windows874", "tis620"] },
  { encoding: "shift_jis", languages: [0x7b, 0x13], words: ["932", "shiftjis", "sjis", "cp932", "windows31j"] },
  { encoding: "gbk", languages: [0x7a, 0x4d], words: ["936", "gbk", "gb2312", "cp936"] },
  { encoding: "cp949", languages: [0x79, 0x4e], words: ["949", "euckr", "ksc5601", "uhc", "cp949"] },
  { encoding: "big5", languages: [0x78, 0x4f], words: ["950", "big5", "cp950"] },
  { encoding: "macintosh", languages: [0x04], words: ["10000", "macroman", "macintosh"] },
  { encoding: "maccyrillic", languages: [0x96], words: ["10007", "maccyrillic"] },
  { encoding: "maccenteuro", languages: [0x97], words: ["10029", "maccentraleurope"] },
  { encoding: "macgreek", languages: [0x98], words: ["10006", "macgreek"] },
  { encoding: "windows-1250", languages: [0xc8], words: ["1250", "cp1250", "windows1250"] },
  { encoding: "windows-1251", languages: [0xc9], words: ["1251", "cp1251", "windows1251"] },
  { encoding: "windows-1254", languages: [0xca], words: ["1254", "cp1254", "windows1254"] },
  { encoding: "windows-1253", languages: [0xcb], words: ["1253", "cp1253", "windows1253"] },
  { encoding: "windows-1257", languages: [0xcc], words: ["1257", "cp1257", "windows1257"] },
  { encoding: "windows-1255", languages: [0x7d], words: ["1255", "cp1255", "windows1255"] },
  { encoding: "windows-1256", languages: [0x7e], words: ["1256", "cp1256", "windows1256"] },
  { encoding: "windows-1258", languages: [], words: ["1258", "cp1258", "windows1258"] },
  { encoding: "utf-16le", languages: [], words: ["1200", "utf16", "utf16le"] },
  { encoding: "gb18030", languages: [], words: ["54936", "gb18030"] },
  { encoding: "koi8-r", languages: [], words: ["20866", "koi8r"] },
  { encoding: "koi8-u", languages: [], words: ["21866", "koi8u"] },
  { encoding: "euc-jp", languages: [], words: ["20932", "51932", "eucjp"] },
  { encoding: "iso-8859-2", languages: [], words: ["28592", "latin2"] },
  { encoding: "iso-8859-1", languages: [], words: ["28591", "latin1"] },
];

const codePageByLanguageId = new Map(
  codePages.flatMap((page) => page.languages.map((byte) => [byte, page.encoding] as const)),
);
const codePageByName = new Map(codePages.flatMap((page) => page.words.map((word) => [word, page.encoding] as const)));

/** The encoding that a language byte stands for; undefined if the byte is not reliable. */
export function encodingOfLanguageId(byte: number): string | undefined {
  return codePageByLanguageId.get(byte);
}

/**
 * The decoder's name for a common spelling of an encoding ("ANSI 1252", "ISO 88591", "cp850"); undefined if unknown.
 */
export function encodingOfName(text: string): string | undefined {
  const written = text.replace(/^\uFEFF/, "").trim();
  if (!/^[\w .:-]{2,40}$/.test(written)) return undefined;
  const word = written
    .toLowerCase()
    .replace(/^(ansi|oem|cp|ibm|dos|ms)[ _-]*(?=\d)/, "")
    .replace(/[^a-z0-9]/g, "");
  const iso = /^(?:iso)?8859(\d{1,2})$/.exec(word);
  if (iso) return `iso-8859-${iso[1]}`;
  return codePageByName.get(word) ?? (/^\d{3}$/.test(word) ? `cp${word}` : written);
}

/** The identifiers of this encoding for a .dbf and a .cpg. */
export function codePageOf(encoding: string): { language: number; word: string } {
  const name = encodingOfName(encoding) ?? encoding;
  const page = codePages.find((entry) => entry.encoding === name.toLowerCase());
  if (!page) return { language: 0, word: encoding };
  // GDAL and ArcGIS know code pages by number only from 437 to 1258.
  const number = Number(page.words[0]);
  const word = page.encoding === "utf-8" ? "UTF-8" : number <= 1258 && number !== 1200 ? String(number) : page.encoding;
  return { language: page.languages[0] ?? 0, word };
}
