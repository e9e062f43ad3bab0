import { once } from "node:events";
import type { Writable } from "node:stream";
import { createError } from "../../errors.js";
import type { SinkFile } from "../../plugin/format.js";
import type { HostSink, SinkOptions } from "./create-sink.js";
import { outputError } from "./temporary-names.js";

/** Small writes are buffered up to this many bytes. */
const bufferCapacity = 1 << 16;

/** Writes directly to stdout, a named pipe or a device, with back-pressure. */
export class StreamSink implements HostSink {
  readonly inPlaceTarget = null;
  readonly isStream = true;
  private buffer: Buffer | null = null;
  private filled = 0;
  private size = 0;
  private failure: unknown = null;
  private created = false;

  constructor(
    readonly name: string,
    private readonly stream: Writable,
    private readonly options: SinkOptions,
  ) {
    // Never removed, since stdout may report a broken pipe long after the last write.
    stream.on("error", (error) => {
      this.failure ??= error;
    });
  }

  async create(extension?: string): Promise<SinkFile> {
    const unfit = () => createError("output-not-stream", { format: this.options.format ?? "the output's format" });
    if (extension !== undefined || this.created) throw unfit();
    this.created = true;
    const size = () => this.size;
    return {
      path: null,
      get size() {
        return size();
      },
      write: (bytes) => this.write(bytes),
      patch: () => Promise.reject(unfit()),
    };
  }

  private async write(bytes: Uint8Array): Promise<void> {
    this.size += bytes.length;
    if (bytes.length > bufferCapacity - this.filled) {
      await this.flush();
      if (bytes.length >= bufferCapacity) return this.send(Buffer.from(bytes));
    }
    this.buffer ??= Buffer.allocUnsafeSlow(bufferCapacity);
    this.buffer.set(bytes, this.filled);
    this.filled += bytes.length;
  }

  private async flush(): Promise<void> {
    if (this.filled === 0 || !this.buffer) return;
    const full = this.buffer.subarray(0, this.filled);
    this.buffer = null;
    this.filled = 0;
    await this.send(full);
  }

  /** @param bytes must not be changed afterwards, since the stream keeps them */
  private async send(bytes: Buffer): Promise<void> {
    if (this.failure) throw this.reason();
    if (this.stream.destroyed || this.stream.writableEnded) {
      this.failure = Object.assign(new Error("the stream is closed"), { code: "EPIPE" });
      throw this.reason();
    }
    if (this.stream.write(bytes)) return;
    try {
      const gone = new AbortController();
      const closed = once(this.stream, "close", { signal: gone.signal }).then(() => {
        this.failure ??= Object.assign(new Error("the stream is closed"), { code: "EPIPE" });
      });
      const drained = once(this.stream, "drain", { signal: gone.signal });
      drained.catch(() => {});
      closed.catch(() => {});
      await Promise.race([drained, closed]).finally(() => gone.abort());
    } catch (error) {
      this.failure ??= error;
    }
    if (this.failure) throw this.reason();
  }

  /** The error of the stream; a pipe that its reader closed, as `head` does, is `output-closed`. */
  private reason(): Error {
    const code = (this.failure as NodeJS.ErrnoException).code;
    if (code === "EPIPE" || code === "ERR_STREAM_DESTROYED" || code === "ERR_STREAM_PREMATURE_CLOSE") {
      return createError("output-closed", { output: this.name }, this.failure);
    }
    return outputError(this.name, this.failure);
  }

  /** Ends the stream, except stdout. */
  async prepare(): Promise<void> {
    await this.flush();
    if (this.failure) throw this.reason();
    const own = this.stream !== process.stdout;
    await new Promise<void>((resolve) => {
      const done = (error?: Error | null) => {
        if (error) this.failure ??= error;
        resolve();
      };
      if (own) this.stream.end(done);
      else this.stream.write("", done);
    });
    if (this.failure) throw this.reason();
  }

  files(): null {
    return null;
  }

  published(): void {}

  commit(): Promise<void> {
    return this.prepare();
  }

  /** Drops buffered bytes; written bytes cannot be undone. */
  async abort(): Promise<void> {
    this.buffer = null;
    this.filled = 0;
    if (this.stream !== process.stdout) this.stream.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.stream.writableFinished) await this.abort();
  }
}
