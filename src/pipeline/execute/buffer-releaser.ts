import type { MessagePort } from "node:worker_threads";

/** Bytes: to the collector less than this means nothing. */
const minReleasedBytes = 1 << 16;

/**
 * Frees buffers at once. Left to the collector, the megabytes of one result after the other wait for it long after they
 * were written, and make it run more often.
 */
export class BufferReleaser {
  private port: MessagePort | null = null;

  /** Hands the buffers over to no one. */
  free(buffers: readonly ArrayBuffer[]): void {
    const large = buffers.filter((buffer) => buffer.byteLength >= minReleasedBytes);
    if (large.length === 0) return;
    this.port ??= openDetachedPort();
    this.port.postMessage(null, large);
  }

  close(): void {
    this.port?.close();
  }
}

/** A port whose other end is closed. */
function openDetachedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}
