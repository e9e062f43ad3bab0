/** Downloads a file whose size and SHA-256 are known in advance. */
import { createHash } from "node:crypto";
import { type FileHandle, open, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createError, GeoferryError } from "../../errors.js";
import { makeFolders } from "../../make-folders.js";
import { networkSettings } from "../../network-settings.js";
import { describeSystemError } from "../input/source.js";
import { isAbandoned, markPattern, newMark, removeOnExit } from "../output/abandoned-files.js";
import { rename } from "../output/rename.js";
import { redactUrl } from "../redact.js";
import { type HttpResponse, httpStatusError, networkError, sendRequest } from "./download.js";
import { retryBroken } from "./retry-broken.js";

export interface ExpectedFile {
  readonly url: string;
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

export interface VerifiedDownloadOptions {
  readonly signal: AbortSignal;
  /** Called with the bytes received so far. */
  readonly progress?: (done: number) => void;
  /** Creates the error for a file with other content than expected. */
  readonly createChecksumError: (source: string, reason: string) => Error;
}

/**
 * Downloads into a temporary file beside `path`, which is renamed when it is complete and verified. After a broken
 * connection, a range request resumes the download if the server still has the same file. Two processes may download the
 * same file at once; each has its own temporary file.
 * @throws the error of `createChecksumError`; input-download, input-unavailable, input-forbidden, output-failed, interrupted
 */
export async function downloadVerified(
  file: ExpectedFile,
  path: string,
  options: VerifiedDownloadOptions,
): Promise<void> {
  const folder = dirname(path);
  const failed = (error: unknown) =>
    createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
  const temporary = join(folder, `.${basename(path)}.${newMark()}.part`);
  const handle = await Promise.resolve()
    .then(() => makeFolders(folder))
    .then(() => removeAbandoned(folder))
    .then(() => open(temporary, "wx", 0o644))
    .catch((error: unknown) => {
      throw failed(error);
    });
  const keep = removeOnExit(temporary);
  try {
    await new ResumableDownload(file, handle, failed, options).run();
    await handle.sync().catch((error: unknown) => {
      throw failed(error);
    });
    await handle.close();
    await rename(temporary, path).catch((error: unknown) => {
      throw failed(error);
    });
  } finally {
    await handle.close().catch(() => {});
    await rm(temporary, { force: true }).catch(() => {});
    keep();
  }
}

/** Removes temporary files of processes that no longer run. */
async function removeAbandoned(folder: string): Promise<void> {
  const pattern = new RegExp(`^\\..*\\.(${markPattern})\\.part$`);
  for (const name of await readdir(folder)) {
    const mark = pattern.exec(name)?.[1];
    const found = mark === undefined ? null : await stat(join(folder, name)).catch(() => null);
    if (mark !== undefined && found && isAbandoned(mark, found.mtimeMs)) await rm(join(folder, name), { force: true });
  }
}

/** Whether a file has the expected size and content. */
export async function isVerified(path: string, { bytes, sha256 }: Omit<ExpectedFile, "url">): Promise<boolean> {
  const handle = await open(path, "r").catch(() => null);
  if (handle === null) return false;
  try {
    if ((await handle.stat()).size !== bytes) return false;
    const hash = createHash("sha256");
    for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk as Uint8Array);
    return hash.digest("hex") === sha256;
  } finally {
    await handle.close();
  }
}

/** The download of one file over one or more connections. */
class ResumableDownload {
  private readonly url: URL;
  private readonly displayUrl: string;
  private done = 0;
  private hash = createHash("sha256");
  /** Strong entity tag of the file; null if the server sends none. */
  private entityTag: string | null = null;
  private hasResponse = false;

  constructor(
    private readonly file: ExpectedFile,
    private readonly handle: FileHandle,
    private readonly failed: (error: unknown) => Error,
    private readonly options: VerifiedDownloadOptions,
  ) {
    this.url = new URL(file.url);
    this.displayUrl = redactUrl(file.url);
  }

  async run(): Promise<void> {
    const { retries } = networkSettings();
    await retryBroken(
      () => this.attempt(),
      retries,
      this.options.signal,
      () => this.hasResponse,
    );
    const found = this.hash.digest("hex");
    const { sha256 } = this.file;
    if (found !== sha256) throw this.checksumError(`its SHA-256 is ${found}; expected ${sha256}`);
  }

  private checksumError(reason: string): Error {
    return this.options.createChecksumError(this.displayUrl, reason);
  }

  private async attempt(): Promise<void> {
    const { signal } = this.options;
    try {
      const onResponse = () => {
        this.hasResponse = true;
      };
      const answer = await sendRequest(this.url, this.displayUrl, {
        signal,
        headers: this.headers(),
        onResponse,
      });
      this.start(answer);
      for await (const chunk of answer.body()) await this.receive(chunk);
    } catch (error) {
      if (error instanceof GeoferryError || signal.aborted) throw error;
      throw networkError(this.displayUrl, error, !this.hasResponse);
    }
    if (this.done < this.file.bytes)
      throw createError("input-unavailable", {
        source: this.displayUrl,
        reason: `received ${this.done} of ${this.file.bytes} bytes`,
      });
  }

  private headers(): Record<string, string> {
    // Byte ranges must refer to the uncompressed file.
    const plain = { "accept-encoding": "identity" };
    if (this.done === 0 || this.entityTag === null) return plain;
    return { ...plain, range: `bytes=${this.done}-`, "if-range": this.entityTag };
  }

  /** Decides by the response headers whether the body resumes the download or starts it again. */
  private start(answer: HttpResponse): void {
    const { status, headers } = answer;
    const { bytes } = this.file;
    const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers["content-range"] ?? "");
    const resumes = status === 206 && range !== null && Number(range[1]) === this.done && Number(range[2]) === bytes;
    if (resumes) return;
    if (status !== 200) {
      answer.discard();
      throw httpStatusError(this.displayUrl, answer);
    }
    const length = headers["content-length"];
    if (length !== undefined && /^\d+$/.test(length) && Number(length) !== bytes) {
      answer.discard();
      throw this.checksumError(`it has ${length} bytes; expected ${bytes}`);
    }
    const tag = headers.etag;
    // A weak tag does not guarantee the same bytes (RFC 9110, 13.1.5).
    this.entityTag = tag !== undefined && !tag.startsWith("W/") ? tag : null;
    this.done = 0;
    this.hash = createHash("sha256");
  }

  private async receive(chunk: Uint8Array): Promise<void> {
    const { bytes } = this.file;
    if (this.done + chunk.length > bytes) throw this.checksumError(`it has more than the expected ${bytes} bytes`);
    await this.write(chunk).catch((error: unknown) => {
      throw this.failed(error);
    });
    this.hash.update(chunk);
    this.done += chunk.length;
    this.options.progress?.(this.done);
  }

  private async write(chunk: Uint8Array): Promise<void> {
    for (let written = 0; written < chunk.length; ) {
      const left = chunk.length - written;
      written += (await this.handle.write(chunk, written, left, this.done + written)).bytesWritten;
    }
  }
}
