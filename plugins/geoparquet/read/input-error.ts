import { createError, GeoferryError, type Place, type ReadContext, type Source } from "../../../src/plugin/index.js";
import { UnsupportedParquet } from "../parquet/codecs.js";
import { ChunkEnded } from "../parquet/column-pages.js";

/** Whether an error comes from the operating system or the host, and not from the content. */
const isForeign = (error: unknown): boolean =>
  error instanceof GeoferryError || !(error instanceof Error) || error.name === "AbortError" || "syscall" in error;

/**
 * What a decoder throws for damaged content, as an error of the file. Other errors, and the reason of an abort, are
 * returned as they are.
 */
export function toInputError(error: unknown, source: Source, place: Place, { signal }: ReadContext): unknown {
  if (isForeign(error) || signal.aborted) return error;
  const { message } = error as Error;
  if (error instanceof UnsupportedParquet)
    return createError("unsupported", { source: source.name, reason: `${message} is not supported` }, error);
  const code = error instanceof ChunkEnded ? "input-truncated" : "input-corrupt";
  // Libraries that decode damaged bytes fail with errors about their own values.
  const isPlain = error instanceof TypeError || error instanceof RangeError;
  const reason = isPlain ? "its structure is damaged, and cannot be decoded" : message.slice(0, 200);
  return createError(code, { source: source.name, place, reason }, error);
}
