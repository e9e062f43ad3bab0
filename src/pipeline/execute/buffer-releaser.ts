import type { MessagePort } from "node:worker_threads";

/** Bytes: smaller buffers are left to the garbage collector. */
const minReleasedBytes = 1 << 16;

/**
 * Frees buffers at once by transferring them to a closed port. The garbage collector would keep megabytes of written
 * results for a long time, and would run more often.
 */
export class BufferReleaser {
  private port: MessagePort | null = null;

  /** Detaches the buffers and frees their memory. */
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

/** Returns a message port whose other end is closed, so that transferred buffers are dropped. */
function openDetachedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}
