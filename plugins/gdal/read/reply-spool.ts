/** Keeps the replies of a first pass over a layer in a temporary file, so that GDAL reads the layer only once. */
import { type FileHandle, open } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";
import type { GdalReply } from "../process/protocol.js";

export type RowsReply = GdalReply & { readonly kind: "rows" };

export class ReplySpool {
  /** Size of each reply in bytes. */
  private readonly sizes: number[] = [];
  private end = 0;

  private constructor(private readonly file: FileHandle) {}

  /** @throws Error of the file system, like all methods */
  static async create(path: string): Promise<ReplySpool> {
    return new ReplySpool(await open(path, "wx+", 0o600));
  }

  async add(reply: RowsReply): Promise<void> {
    const bytes = serialize(reply);
    for (let done = 0; done < bytes.length; )
      done += (await this.file.write(bytes, done, bytes.length - done, this.end + done)).bytesWritten;
    this.end += bytes.length;
    this.sizes.push(bytes.length);
  }

  async *replies(): AsyncGenerator<RowsReply> {
    let position = 0;
    for (const size of this.sizes) {
      const bytes = Buffer.allocUnsafeSlow(size);
      for (let done = 0; done < size; ) {
        const { bytesRead } = await this.file.read(bytes, done, size - done, position + done);
        if (bytesRead === 0) throw new Error("a temporary file was truncated");
        done += bytesRead;
      }
      position += size;
      yield deserialize(bytes) as RowsReply;
    }
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
