import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GeoferryError } from "../../src/errors.js";
import { findDecoder, findEncoder } from "../../src/io/encodings.js";

/** What Python makes of every byte in a one-byte code page; U+FFFD where it means nothing. */
function python(codec: string): string {
  const code = `import sys;sys.stdout.buffer.write(bytes(range(256)).decode('${codec}','replace').encode('utf-8'))`;
  return execFileSync("python3", ["-c", code], { encoding: "utf8" });
}

const allBytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);

describe("one byte a character", () => {
  const pages = [
    ["windows-1250", "cp1250"],
    ["windows-1251", "cp1251"],
    ["windows-1252", "cp1252"],
    ["windows-1253", "cp1253"],
    ["windows-1254", "cp1254"],
    ["windows-1256", "cp1256"],
    ["windows-1257", "cp1257"],
    ["windows-1258", "cp1258"],
    ["iso-8859-2", "iso8859_2"],
    ["iso-8859-15", "iso8859_15"],
    ["koi8-r", "koi8_r"],
    ["macintosh", "mac_roman"],
    ["cp437", "cp437"],
    ["cp737", "cp737"],
    ["cp775", "cp775"],
    ["cp850", "cp850"],
    ["cp852", "cp852"],
    ["cp857", "cp857"],
    ["cp860", "cp860"],
    ["cp861", "cp861"],
    ["cp863", "cp863"],
    ["cp865", "cp865"],
    ["cp866", "cp866"],
    ["cp869", "cp869"],
  ] as const;

  test.each(pages)("%s decodes each byte as Python does", (name, codec) => {
    const expected = [...python(codec)];
    const decode = findDecoder(name);
    const differing: string[] = [];
    for (const byte of allBytes) {
      const own = decode(Uint8Array.of(byte));
      // WHATWG gives bytes that mean nothing in a Windows page to the control characters.
      if (own !== expected[byte] && !(expected[byte] === "\uFFFD" && own.charCodeAt(0) === byte)) {
        differing.push(`${byte.toString(16)}: ${own} ${expected[byte]}`);
      }
    }
    expect(differing).toEqual([]);
    expect(decode(allBytes)).toBe([...allBytes].map((byte) => decode(Uint8Array.of(byte))).join(""));
  });

  test.each(pages)("%s encodes each character to the byte that it was decoded from", (name) => {
    const decode = findDecoder(name);
    const encode = findEncoder(name);
    for (const byte of allBytes) {
      const character = decode(Uint8Array.of(byte));
      if (character !== "\uFFFD") expect(decode(encode(character))).toBe(character);
    }
  });
});

describe("more bytes a character", () => {
  // From the tables of the WHATWG Encoding standard, checked with Python.
  test.each([
    ["utf-8", "e697a5e69cac", "日本"],
    ["utf-16le", "e5652c67", "日本"],
    ["utf-16be", "65e5672c", "日本"],
    ["shift_jis", "93fa967b", "日本"],
    ["euc-jp", "c6fccbdc", "日本"],
    ["gbk", "c8d5b1be", "日本"],
    ["gb18030", "c8d5b1be", "日本"],
    ["big5", "a4e9a5bb", "日本"],
    ["euc-kr", "c7d1b1db", "한글"],
  ])("decodes characters of several bytes in %s", (name, hex, text) => {
    const bytes = Buffer.from(hex, "hex");
    expect(findDecoder(name)(bytes)).toBe(text);
    expect(findDecoder(name)(new Uint8Array(bytes))).toBe(text);
    expect(Buffer.from(findEncoder(name)(text)).toString("hex")).toBe(hex);
  });
});

test("encodings have the names that people and other programs use", () => {
  const a = (name: string) => findDecoder(name)(Uint8Array.of(0x80, 0xe9));
  expect(a("ANSI 1252")).toBe("€é");
  expect(a("1252")).toBe("€é");
  expect(a(" Latin1 ")).toBe("€é");
  expect(a("ISO-8859-1")).toBe("€é");
  expect(a("88591")).toBe("€é");
  expect(a("ISO 8859-1")).toBe("€é");
  expect(a("28591")).toBe("€é");
  expect(a("OEM 850")).toBe("ÇÚ");
  expect(a("850")).toBe("ÇÚ");
  expect(a("IBM437")).toBe("ÇΘ");
  expect(a("cp1251")).toBe("Ђй");
  expect(findDecoder("ISO8859_15")(Uint8Array.of(0xa4))).toBe("€");
  expect(findDecoder("885915")(Uint8Array.of(0xa4))).toBe("€");
  expect(findDecoder("65001")(Buffer.from("ü"))).toBe("ü");
  expect(findDecoder("UTF8")(Buffer.from("ü"))).toBe("ü");
  expect(findDecoder("932")(Buffer.from("93fa", "hex"))).toBe("日");
  expect(findDecoder("Big5")(Buffer.from("a4e9", "hex"))).toBe("日");
});

test("a character that an encoding lacks becomes one question mark", () => {
  expect(Buffer.from(findEncoder("cp850")("a日b😀c")).toString("latin1")).toBe("a?b?c");
  expect(Buffer.from(findEncoder("windows-1252")("€—ł")).toString("hex")).toBe("80973f");
  expect(Buffer.from(findEncoder("gbk")("a😀b")).toString("latin1")).toMatch(/^a\?{1,2}b$/);
});

test("invalid bytes become U+FFFD, and a byte order mark is kept", () => {
  expect(findDecoder("utf-8")(Buffer.from([0x61, 0xff, 0x62]))).toBe("a\uFFFDb");
  expect(findDecoder("utf-8")(Buffer.from("\uFEFFa"))).toBe("\uFEFFa");
  expect(findDecoder("utf-16le")(Buffer.from("\uFEFFa", "utf16le"))).toBe("\uFEFFa");
});

test("any text survives the Unicode encodings, and ASCII survives all that contain it", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      for (const name of ["utf-8", "utf-16le", "utf-16be"]) {
        expect(findDecoder(name)(findEncoder(name)(text))).toBe(text);
      }
    }),
  );
  const ascii = String.fromCharCode(...Array.from({ length: 128 }, (_, code) => code));
  for (const name of ["cp850", "windows-1252", "shift_jis", "big5", "utf-8"]) {
    expect(findDecoder(name)(findEncoder(name)(ascii))).toBe(ascii);
  }
});

test.each(["", "nonsense", "base64", "hex", "cp99999", "utf-8x", "__proto__", "constructor"])(
  "%j is not an encoding",
  (name) => {
    let thrown: unknown;
    try {
      findDecoder(name);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(GeoferryError);
    expect((thrown as GeoferryError).code).toBe("option-invalid");
    expect((thrown as GeoferryError).message).toContain("windows-1252");
  },
);
