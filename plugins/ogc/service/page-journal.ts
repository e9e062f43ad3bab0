/**
 * Keeps the responses of an interrupted first pass in a folder, so that the same command continues it. The second pass,
 * which is never continued, shows whether anything was edited since.
 *
 * The file has a line of JSON for each response, its bytes, and a line feed. The first line says what was selected.
 */
import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { createError, type HttpResponse } from "../../../src/plugin/index.js";
import { DownloadLock } from "../../shared/download-lock.js";
import { isObject } from "../../shared/json/values.js";
import type { PageRequests } from "./page-requests.js";
import type { ResponseCheck } from "./service-client.js";

const version = 1;
const maxHeadBytes = 1 << 16;

/** The line before a response. */
interface Head {
  readonly url: string;
  readonly status: number;
  readonly headers: HttpResponse["headers"];
  readonly length: number;
  readonly sha256: string;
}

/** Headers that readers of pages use. */
const keptHeaders = ["content-crs", "content-type", "link"];

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

export class PageJournal {
  private readonly path: string;
  private readonly lock: DownloadLock;
  private file: FileHandle | null = null;
  /** Where the next response is read from or written to. */
  private position = 0;
  private size = 0;
  private pending: { readonly url: string; readonly response: HttpResponse } | null = null;
  /** Pages that came from the file. */
  resumed = 0;

  /** @param selection says which features are requested, and in which form */
  private constructor(
    folder: string,
    private readonly selection: string,
  ) {
    const base = join(folder, sha256(selection).slice(0, 20));
    this.path = `${base}.pages`;
    this.lock = new DownloadLock(`${base}.lock`);
  }

  /**
   * @param count the number of features, which must be the same as when the file was begun
   * @throws output-locked, output-failed
   */
  static async open(folder: string, selection: string, count: number | null): Promise<PageJournal> {
    const journal = new PageJournal(folder, selection);
    await journal.lock.acquire();
    try {
      await journal.begin(count);
    } catch (error) {
      await journal.lock.release();
      throw error;
    }
    return journal;
  }

  private async begin(count: number | null): Promise<void> {
    const line = `${JSON.stringify({ version, selection: this.selection, count })}\n`;
    await this.attempt(async () => {
      // Appending creates the file if there is none, and keeps what is there.
      await (await open(this.path, "a", 0o600)).close();
      this.file = await open(this.path, "r+");
      this.size = (await this.file.stat()).size;
      const expected = Buffer.from(line);
      if ((await this.read(0, expected.length)).equals(expected)) this.position = expected.length;
      else {
        await this.truncate(0);
        await this.append(expected);
      }
    });
  }

  /** Requests whose responses are taken from the file as long as it has them in the same order, and are kept in it. */
  through(requests: PageRequests): PageRequests {
    return { request: (url, accept, check) => this.request(requests, url, accept, check) };
  }

  private async request(
    requests: PageRequests,
    url: URL,
    accept: string,
    check: (response: HttpResponse) => ResponseCheck,
  ): Promise<HttpResponse> {
    // A page that is requested once more was not accepted; one without features was, if the reader goes on.
    const isRepeated = this.pending?.url === url.href;
    if (!isRepeated) await this.accept();
    const kept = isRepeated ? null : await this.attempt(() => this.take(url.href));
    if (kept) {
      this.resumed++;
      return kept;
    }
    const response = await requests.request(url, accept, check);
    this.pending = { url: url.href, response };
    return response;
  }

  /** Keeps the response to the last request, whose features were accepted. @throws output-failed */
  async accept(): Promise<void> {
    const { pending } = this;
    this.pending = null;
    if (pending === null) return;
    const { url, response } = pending;
    const { body, status } = response;
    const headers = Object.fromEntries(keptHeaders.map((name) => [name, response.headers[name]]));
    const head: Head = { url, status, headers, length: body.length, sha256: sha256(body) };
    await this.attempt(() => this.append(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body, lineFeed])));
  }

  /** The next response in the file; null, and the rest is removed, if it is not that of the address, or not complete. */
  private async take(url: string): Promise<HttpResponse | null> {
    if (this.position >= this.size) return null;
    const start = await this.read(this.position, maxHeadBytes);
    const end = start.indexOf(10);
    const head = end < 0 ? null : parseHead(start.toString("utf8", 0, end));
    if (head?.url === url) {
      const from = this.position + end + 1;
      const body = await this.read(from, head.length);
      if (body.length === head.length && sha256(body) === head.sha256) {
        this.position = from + head.length + 1;
        const { status, headers } = head;
        return { status, headers, body };
      }
    }
    await this.truncate(this.position);
    return null;
  }

  private async read(position: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, this.size - position)));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await this.file!.read(bytes, filled, bytes.length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  }

  private async truncate(size: number): Promise<void> {
    await this.file!.truncate(size);
    this.size = size;
    this.position = size;
  }

  private async append(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; )
      at += (await this.file!.write(bytes, at, bytes.length - at, this.size + at)).bytesWritten;
    this.size += bytes.length;
    this.position = this.size;
  }

  private async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw createError("output-failed", { output: this.path, reason }, error);
    }
  }

  /** Closes the file. @param keeps whether an interrupted pass is to be continued */
  async close(keeps: boolean): Promise<void> {
    await this.file?.close();
    if (!keeps) await rm(this.path, { force: true });
    await this.lock.release();
  }
}

const lineFeed = Buffer.from("\n");

function parseHead(text: string): Head | null {
  try {
    const found: unknown = JSON.parse(text);
    return isObject(found) && Number.isSafeInteger(found.length) ? (found as unknown as Head) : null;
  } catch {
    return null;
  }
}
