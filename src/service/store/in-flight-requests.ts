import type { WriteOutcome, WriteRequest } from "./contract.js";

/**
 * Idempotency keys in use by requests in progress in this process. A concurrent request with the same key is rejected,
 * not queued.
 */
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
