/** Resolves the inputs of library calls to addresses that the pipeline can read. */
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createError, GeoferryError } from "../errors.js";
import { describeSystemError } from "../io/input/source.js";
import type { Spool } from "../io/input/spool.js";
import { safeName } from "../io/safe-name.js";
import type { Registry } from "../plugin/registry.js";

/** The bytes of a file, or a stream of them, which is read once into a temporary file. */
export type InputBytes = Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * A path, an http(s) or s3 address, `map:ID`, or an address of a database; a URL; or bytes, whose format is detected by
 * content unless `from` or a name with an extension determines it.
 */
export type Input = string | URL | InputBytes | { readonly name: string; readonly bytes: InputBytes };

export const isBytes = (input: unknown): input is InputBytes =>
  input instanceof Uint8Array ||
  input instanceof ArrayBuffer ||
  input instanceof Blob ||
  input instanceof ReadableStream ||
  (typeof input === "object" && input !== null && Symbol.asyncIterator in input);

/** An input as an address, with its name for messages. */
export interface ResolvedInput {
  readonly address: string;
  readonly name: string;
}

function toReadable(bytes: InputBytes): Readable {
  if (bytes instanceof Uint8Array) return Readable.from([bytes], { objectMode: false });
  if (bytes instanceof ArrayBuffer) return Readable.from([new Uint8Array(bytes)], { objectMode: false });
  if (bytes instanceof Blob) return Readable.fromWeb(bytes.stream() as Parameters<typeof Readable.fromWeb>[0]);
  if (bytes instanceof ReadableStream) return Readable.fromWeb(bytes as Parameters<typeof Readable.fromWeb>[0]);
  return Readable.from(bytes);
}

interface InputContext {
  readonly spool: Spool;
  readonly registry: Registry;
  readonly signal: AbortSignal;
  readonly from?: string | undefined;
}

/** @throws input-unreadable, output-failed, interrupted, usage */
export async function resolveInput(input: Input, context: InputContext): Promise<ResolvedInput> {
  if (typeof input === "string") return { address: input, name: input };
  if (input instanceof URL) {
    const address = input.protocol === "file:" ? fileURLToPath(input) : input.href;
    return { address, name: address };
  }
  if (isBytes(input)) return spoolBytes(input, inputName(input, context), context);
  const { name, bytes } = (input ?? {}) as Partial<Exclude<Input, string | URL | InputBytes>>;
  if (typeof name !== "string" || !isBytes(bytes))
    throw createError("usage", {
      reason:
        "an input is a path, an address, a URL, bytes, or { name, bytes } with bytes as Uint8Array, Blob or stream",
    });
  return spoolBytes(bytes, name, context);
}

/** The name of a `File`, or a name with the extension of the format `from`. */
function inputName(bytes: InputBytes, { from, registry }: InputContext): string {
  if (bytes instanceof Blob && "name" in bytes && typeof bytes.name === "string") return bytes.name;
  const extension = from === undefined ? undefined : registry.get(from).extensions[0];
  return extension === undefined ? "input" : `input.${extension}`;
}

async function spoolBytes(bytes: InputBytes, name: string, { spool, signal }: InputContext): Promise<ResolvedInput> {
  const address = join(spool.folder(), safeName(name) ?? "input");
  try {
    await pipeline(toReadable(bytes), createWriteStream(address, { flags: "wx", mode: 0o600 }), { signal });
  } catch (error) {
    if (signal.aborted) throw createError("interrupted", {}, error);
    if (error instanceof GeoferryError) throw error;
    throw createError("input-unreadable", { source: name, reason: describeSystemError(error) }, error);
  }
  return { address, name };
}
