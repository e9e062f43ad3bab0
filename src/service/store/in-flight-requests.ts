import type { WriteOutcome, WriteRequest } from "./contract.js";

/** The keys of idempotent requests that this process carries out. One whose key is in use waits for nothing: it is told so. */
export class InFlightRequests {
  private readonly names = new Set<string>();

  async runExclusive({ idempotency }: WriteRequest, write: () => Promise<WriteOutcome>): Promise<WriteOutcome> {
    if (!idempotency) return write();
    const name = JSON.stringify([idempotency.scope, idempotency.key]);
    if (this.names.has(name)) return { kind: "key-in-flight" };
    this.names.add(name);
    try {
      return await write();
    } finally {
      this.names.delete(name);
    }
  }
}
