import { type Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createError, GeoferryError } from "../errors.js";
import { describeSystemError } from "../io/input/source.js";
import { withAbort } from "../io/with-abort.js";

/**
 * Writes bytes into a stream of the caller and closes it. Ends when the signal is aborted, even if the stream never settles
 * a write.
 * @throws output-failed, interrupted
 */
export async function writeToStream(
  bytes: Readable,
  output: Writable | WritableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  try {
    const target = output instanceof Writable ? output : Writable.fromWeb(output);
    await withAbort(pipeline(bytes, target, { signal }), signal);
  } catch (error) {
    bytes.destroy();
    if (signal.aborted) throw createError("interrupted", {}, error);
    const reason = error instanceof Error ? describeSystemError(error) : String(error);
    const { code, message, details } = createError("output-failed", { output: "the output stream", reason });
    // No options to name: complete as it is, so that `cause` is the error of the stream.
    throw new GeoferryError(code, message, { ...details, options: [] }, error);
  }
}

/** Discards an output of a failed call: destroys or aborts its stream. Does not wait for a stream if the signal is aborted. */
export async function discardStream(output: unknown, error: unknown, signal: AbortSignal): Promise<void> {
  if (output instanceof Writable) output.destroy();
  else if (output instanceof WritableStream) {
    const aborted = output.abort(error).catch(() => {});
    if (!signal.aborted) await aborted;
  }
}
