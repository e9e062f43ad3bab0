/** The part of Node's Buffer that columns and conditions use, for pages. Import it before they are loaded. */
const decoder = new TextDecoder();
const encoder = new TextEncoder();

class BrowserBuffer extends Uint8Array {
  static alloc(length: number): BrowserBuffer {
    return new BrowserBuffer(length);
  }

  static allocUnsafeSlow(length: number): BrowserBuffer {
    return new BrowserBuffer(length);
  }

  static compare(a: Uint8Array, b: Uint8Array): number {
    const length = Math.min(a.length, b.length);
    for (let k = 0; k < length; k++) if (a[k] !== b[k]) return a[k]! < b[k]! ? -1 : 1;
    return Math.sign(a.length - b.length);
  }

  override toString(): string {
    return decoder.decode(this);
  }

  write(text: string, at: number): number {
    return encoder.encodeInto(text, this.subarray(at)).written;
  }
}

/** Beside the function of typed arrays, which takes a function as the second argument. */
function from(source: string | ArrayBuffer, start?: number, length?: number): BrowserBuffer {
  if (typeof source === "string") return from(encoder.encode(source).buffer as ArrayBuffer);
  return new BrowserBuffer(source, start, length);
}

Object.assign(globalThis, { Buffer: Object.assign(BrowserBuffer, { from }) });
