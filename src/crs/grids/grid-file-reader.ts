import { type FileHandle, open } from "node:fs/promises";
import { createError } from "../../errors.js";

/** Reads parts of a grid file. */
export class GridFileReader implements AsyncDisposable {
  private constructor(
    private readonly handle: FileHandle,
    /** The file, as in messages. */
    readonly name: string,
    readonly size: number,
  ) {}

  /** @throws grid-invalid */
  static async open(path: string): Promise<GridFileReader> {
    try {
      const handle = await open(path, "r");
      const { size } = await handle.stat();
      return new GridFileReader(handle, path, size);
    } catch (error) {
      throw createError("grid-invalid", { source: path, reason: (error as Error).message }, error);
    }
  }

  /** @throws grid-invalid if the file ends before */
  async read(offset: number, length: number, what: string): Promise<DataView> {
    if (!(offset >= 0 && length >= 0 && offset + length <= this.size))
      throw this.createInvalidGridError(`it ends at byte ${this.size}, before the end of ${what}`, offset);
    const bytes = new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const { bytesRead } = await this.handle.read(bytes, done, length - done, offset + done);
      if (bytesRead === 0) throw this.createInvalidGridError(`it ends within ${what}`, offset + done);
      done += bytesRead;
    }
    return new DataView(bytes.buffer);
  }

  createInvalidGridError(reason: string, byte?: number): Error {
    return createError("grid-invalid", {
      source: this.name,
      reason,
      ...(byte === undefined ? {} : { place: { byte } }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.handle.close();
  }
}

/** Text of a field that is padded with blanks or zeros. */
export function readPaddedText(view: DataView, offset: number, length: number): string {
  let text = "";
  for (let i = 0; i < length; i++) text += String.fromCharCode(view.getUint8(offset + i));
  return text.replace(/\0.*$/s, "").trim();
}
