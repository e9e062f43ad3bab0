/** Decodes JSON strings into UTF-8, and repairs common deviations from JSON. */

const replacementBytes = [0xef, 0xbf, 0xbd];
const plainEscapes = new Uint8Array(128);
for (const [letter, value] of Object.entries({ '"': 34, "\\": 92, "/": 47, b: 8, f: 12, n: 10, r: 13, t: 9 })) {
  plainEscapes[letter.charCodeAt(0)] = value;
}

function hexAt(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let i = at; i < at + 4; i++) {
    const byte = bytes[i]!;
    value = value * 16 + (byte <= 57 ? byte - 48 : (byte | 32) - 87);
  }
  return value;
}

/** Decodes JSON strings; records whether a surrogate was unpaired, which UTF-8 cannot hold (RFC 3629, section 3). */
export class JsonStringDecoder {
  loneSurrogate = false;

  /**
   * Decodes `source[from … to]`, the text between the quotes, into `target` at `at`; returns the offset after it. The
   * result is never longer than the source.
   */
  into(source: Uint8Array, from: number, to: number, target: Uint8Array, at: number): number {
    let end = at;
    for (let i = from; i < to; i++) {
      const byte = source[i]!;
      if (byte !== 92) target[end++] = byte;
      else {
        i++;
        if (source[i] !== 117) target[end++] = plainEscapes[source[i]!]!;
        else {
          let code = hexAt(source, i + 1);
          i += 4;
          if (code >= 0xd800 && code < 0xdc00 && source[i + 1] === 92 && source[i + 2] === 117) {
            const low = hexAt(source, i + 3);
            if (low >= 0xdc00 && low < 0xe000) {
              code = 0x10000 + (code - 0xd800) * 0x400 + low - 0xdc00;
              i += 6;
            }
          }
          end = this.character(code, target, end);
        }
      }
    }
    return end;
  }

  private character(code: number, target: Uint8Array, at: number): number {
    let end = at;
    if (code < 0x80) target[end++] = code;
    else if (code < 0x800) {
      target[end++] = 0xc0 | (code >> 6);
      target[end++] = 0x80 | (code & 63);
    } else if (code >= 0xd800 && code < 0xe000) {
      this.loneSurrogate = true;
      for (const byte of replacementBytes) target[end++] = byte;
    } else if (code < 0x10000) {
      target[end++] = 0xe0 | (code >> 12);
      target[end++] = 0x80 | ((code >> 6) & 63);
      target[end++] = 0x80 | (code & 63);
    } else {
      target[end++] = 0xf0 | (code >> 18);
      target[end++] = 0x80 | ((code >> 12) & 63);
      target[end++] = 0x80 | ((code >> 6) & 63);
      target[end++] = 0x80 | (code & 63);
    }
    return end;
  }

  text(source: Uint8Array, from: number, to: number): string {
    const target = Buffer.allocUnsafe(to - from);
    return target.toString("utf8", 0, this.into(source, from, to, target, 0));
  }
}

/**
 * Repairs text that is almost JSON: NaN and infinities become null, control characters in strings are escaped, commas
 * before a closing bracket or brace are removed. All other text is unchanged.
 */
export function repairJson(text: string): {
  readonly json: string;
  readonly nonFinite: number;
  readonly commas: number;
} {
  let nonFinite = 0;
  let commas = 0;
  const json = text.replace(/"(?:[^"\\]|\\.)*"|-?Infinity|NaN|,(?=\s*[\]}])/gs, (part) => {
    if (part === ",") {
      commas++;
      return "";
    }
    if (!part.startsWith('"')) {
      nonFinite++;
      return "null";
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    return part.replace(/[\u0000-\u001f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  });
  return { json, nonFinite, commas };
}
