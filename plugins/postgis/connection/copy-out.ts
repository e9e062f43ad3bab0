import type { Submittable, Connection as Wire } from "pg";
import type { Connection } from "./connection.js";

/** Receives one row of a binary COPY: the number of columns, then length and bytes of each. */
export type TakeRow = (bytes: Buffer, from: number, to: number) => void;

/** Server messages that are handled here instead of by the driver (PostgreSQL, "Message Formats"). */
const Message = { copyOut: 0x48, data: 0x64, copyDone: 0x63, ready: 0x5a } as const;

const messageHeaderBytes = 5;
/** Signature, flags and extension length of a binary COPY. */
const fixedHeaderBytes = 15;

/**
 * `COPY … TO STDOUT (FORMAT binary)`. While it runs, reads the socket instead of the driver, which would create an object
 * per row; passes other messages on to the driver.
 */
export class CopyOut implements Submittable {
  private stream!: Wire["stream"];
  private driver: ((bytes: Buffer) => void)[] = [];
  /** Buffer for an incomplete message. */
  private started: Buffer = Buffer.alloc(0);
  /** Bytes of it received. */
  private filled = 0;
  private isFirst = true;
  private wake: () => void = () => undefined;
  private failure: { readonly error: unknown } | null = null;
  private done = false;

  constructor(
    private readonly sql: string,
    private readonly take: TakeRow,
    /** Whether to pause reading; called after some rows. */
    private readonly isFull: () => boolean,
  ) {}

  submit(wire: Wire): void {
    this.stream = wire.stream;
    this.driver = this.stream.listeners("data") as ((bytes: Buffer) => void)[];
    this.stream.removeAllListeners("data");
    this.stream.on("data", this.onBytes);
    wire.query(this.sql);
  }

  private readonly onBytes = (bytes: Buffer): void => {
    if (this.filled > 0) this.continueWith(bytes);
    else this.scan(bytes);
    if (this.isFull() && !this.done) this.stream.pause();
    this.wake();
  };

  /** Completes the incomplete message, then scans the rest. */
  private continueWith(bytes: Buffer): void {
    let at = 0;
    if (this.filled < messageHeaderBytes) at = this.fill(bytes, 0, messageHeaderBytes);
    if (this.filled < messageHeaderBytes) return;
    const size = 1 + this.started.readInt32BE(1);
    at = this.fill(bytes, at, size);
    if (this.filled < size) return;
    const message = this.started.subarray(0, size);
    this.started = Buffer.alloc(0);
    this.filled = 0;
    this.message(message, 0, size);
    if (at < bytes.length) this.scan(bytes.subarray(at));
  }

  /** Fills the message up to `size` bytes. @returns the next offset in `bytes` */
  private fill(bytes: Buffer, from: number, size: number): number {
    if (this.started.length < size) {
      const grown = Buffer.allocUnsafeSlow(size);
      this.started.copy(grown, 0, 0, this.filled);
      this.started = grown;
    }
    const count = Math.min(size - this.filled, bytes.length - from);
    bytes.copy(this.started, this.filled, from, from + count);
    this.filled += count;
    return from + count;
  }

  private scan(bytes: Buffer): void {
    let at = 0;
    while (at + messageHeaderBytes <= bytes.length) {
      const end = at + 1 + bytes.readInt32BE(at + 1);
      if (end > bytes.length) break;
      this.message(bytes, at, end);
      at = end;
    }
    if (at < bytes.length) {
      const isKnown = at + messageHeaderBytes <= bytes.length;
      const size = isKnown ? 1 + bytes.readInt32BE(at + 1) : messageHeaderBytes;
      this.fill(bytes, at, Math.max(size, messageHeaderBytes));
    }
  }

  private message(bytes: Buffer, from: number, to: number): void {
    const type = bytes[from]!;
    if (type === Message.data) {
      if (this.failure === null) this.row(bytes, from + messageHeaderBytes, to);
      return;
    }
    if (type === Message.copyOut || type === Message.copyDone) return;
    if (type === Message.ready) this.detach();
    for (const listener of this.driver) listener(bytes.subarray(from, to));
  }

  /** The header precedes the first row; the trailer follows the last. */
  private row(bytes: Buffer, from: number, to: number): void {
    let at = from;
    if (this.isFirst) {
      at += fixedHeaderBytes;
      at += 4 + bytes.readInt32BE(at);
      this.isFirst = false;
    }
    if (to - at <= 2) return;
    try {
      this.take(bytes, at, to);
    } catch (error) {
      this.failure = { error };
    }
  }

  private detach(): void {
    this.stream.removeListener("data", this.onBytes);
    for (const listener of this.driver) this.stream.on("data", listener);
    this.stream.resume();
  }

  /** Waits for more rows or the end. @returns whether there may be more */
  async more(): Promise<boolean> {
    if (this.failure) throw this.failure.error;
    if (this.done) return false;
    const woken = new Promise<void>((resolve) => {
      this.wake = resolve;
    });
    this.stream?.resume();
    await woken;
    if (this.failure && this.done) throw (this.failure as { readonly error: unknown }).error;
    return true;
  }

  /** Discards the remaining rows, so that the connection can be reused. */
  async drain(connection: Connection): Promise<void> {
    if (this.done) return;
    this.failure ??= { error: null };
    await connection.cancel();
    while (!this.done) {
      const woken = new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.stream?.resume();
      await woken;
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.done = true;
    this.wake();
  }

  /** After a server error the next query gets `ReadyForQuery`; after a connection error there is none. */
  handleError(error: unknown): void {
    this.failure ??= { error };
    this.done = true;
    this.wake();
  }
}
