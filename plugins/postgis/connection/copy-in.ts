import type { Submittable, Connection as Wire } from "pg";

/** Signature, flags, and extension length 0 (PostgreSQL, COPY, "Binary Format"). */
const header = Buffer.concat([Buffer.from("PGCOPY\n\xff\r\n\0", "latin1"), Buffer.alloc(8)]);
const trailer = Buffer.of(0xff, 0xff);
const dataMessage = 0x64;

/** `COPY … FROM STDIN (FORMAT binary)`: writes rows directly to the socket, with backpressure. */
export class CopyIn implements Submittable {
  private wire!: Wire;
  private failure: { readonly error: unknown } | null = null;
  private readonly ready: Promise<void>;
  private readonly completed: Promise<void>;
  private answer!: { ready(): void; completed(): void; failed(error: unknown): void };

  constructor(private readonly sql: string) {
    let [ready, completed] = [() => {}, () => {}];
    let [notReady, notCompleted] = [(_: unknown) => {}, (_: unknown) => {}];
    this.ready = new Promise((resolve, reject) => {
      ready = resolve;
      notReady = reject;
    });
    this.completed = new Promise((resolve, reject) => {
      completed = resolve;
      notCompleted = reject;
    });
    for (const promise of [this.ready, this.completed]) promise.catch(() => undefined);
    const failed = (error: unknown) => {
      notReady(error);
      notCompleted(error);
    };
    this.answer = { ready, completed, failed };
  }

  submit(wire: Wire): void {
    this.wire = wire;
    wire.query(this.sql);
  }

  async begin(): Promise<void> {
    await this.ready;
    await this.write(header);
  }

  /** The caller may reuse the bytes once the promise resolves. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.failure) throw this.failure.error;
    const head = Buffer.allocUnsafe(5);
    head[0] = dataMessage;
    head.writeInt32BE(bytes.length + 4, 1);
    const { stream } = this.wire;
    stream.cork();
    stream.write(head);
    const sent = new Promise<void>((resolve, reject) => {
      stream.write(bytes, (error) => (error ? reject(error) : resolve()));
    });
    stream.uncork();
    // After an error the server discards further data silently, so also wait for the error.
    await Promise.race([sent, this.completed.then(() => sent)]);
    if (this.failure) throw (this.failure as { readonly error: unknown }).error;
  }

  async end(): Promise<void> {
    await this.write(trailer);
    (this.wire as Wire & { endCopyFrom(): void }).endCopyFrom();
    await this.completed;
  }

  handleCopyInResponse(): void {
    this.answer.ready();
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.answer.completed();
  }

  handleError(error: unknown): void {
    this.failure = { error };
    this.answer.failed(error);
  }
}
