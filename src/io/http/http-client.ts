/** The host's HTTP client for plugins. */
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { pipeline } from "node:stream/promises";
import { createError, GeoferryError } from "../../errors.js";
import { maxTimeoutRetries, networkSettings } from "../../network-settings.js";
import type { HttpClient, HttpClientOptions, HttpRequest, HttpResponse, SavedResponse } from "../../plugin/http.js";
import { describeSystemError } from "../input/source.js";
import { redactUrl } from "../redact.js";
import { acceptedEncodings, decodeBody } from "./content-encoding.js";
import { isRetryableStatus, maxRedirects, networkError, redirectStatuses, redirectTarget } from "./download.js";
import { HttpExchange, NoResponseError } from "./http-exchange.js";
import { backoffMs, maxRetryAfterMs, parseRetryAfter, RateLimiter, waitOrAbort } from "./rate-limiter.js";

const firstRetryDelayMs = 500;
/** A response that is kept in memory. */
const maxBodyBytes = 1 << 29;

/** The attempt failed for a reason that may pass. */
class TransientFailure extends Error {
  constructor(
    reason: string,
    readonly isTimeout: boolean,
    readonly retryAfterMs: number | null,
    cause?: unknown,
  ) {
    super(reason, { cause });
  }
}

type Received = { readonly exchange: HttpExchange; readonly response: IncomingMessage };

export class HostHttpClient implements HttpClient {
  private readonly limiter: RateLimiter;
  private isAnswered = false;

  constructor(
    private readonly options: HttpClientOptions,
    private readonly signal: AbortSignal,
  ) {
    this.limiter = new RateLimiter(options.rate ?? null);
  }

  send(request: HttpRequest, explainFailure: (response: HttpResponse) => string | null = () => null) {
    return this.retry(async (): Promise<HttpResponse> => {
      const { exchange, response } = await this.receive(request);
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of this.bodyOf(exchange, response)) {
        size += chunk.length;
        if (size > maxBodyBytes) {
          exchange.destroy();
          throw this.refuse(`a response is larger than ${maxBodyBytes / 2 ** 20} MiB`);
        }
        chunks.push(chunk);
      }
      const { statusCode: status = 0, headers } = response;
      const answer = { status, headers, body: Buffer.concat(chunks, size) };
      const reason = explainFailure(answer);
      if (reason !== null) throw new TransientFailure(reason, false, parseRetryAfter(headers));
      return answer;
    });
  }

  save(request: HttpRequest, path: string): Promise<SavedResponse> {
    return this.retry(async (): Promise<SavedResponse> => {
      const { exchange, response } = await this.receive(request);
      const { statusCode: status = 0, headers } = response;
      if (status !== 200) {
        exchange.drain(response);
        return { status, headers, size: 0 };
      }
      const file = createWriteStream(path, { flags: "wx" });
      try {
        await pipeline(this.bodyOf(exchange, response), file);
        return { status, headers, size: file.bytesWritten };
      } catch (error) {
        exchange.destroy();
        const { code, syscall } = error as NodeJS.ErrnoException;
        if (code !== "EEXIST") await rm(path, { force: true });
        if (syscall === "open" || syscall === "write")
          throw createError("output-failed", { output: path, reason: describeSystemError(error) }, error);
        throw error;
      }
    });
  }

  private async *bodyOf(exchange: HttpExchange, response: IncomingMessage): AsyncGenerator<Uint8Array> {
    const { headers } = response;
    const announced = headers["content-encoding"] === undefined ? headers["content-length"] : undefined;
    let size = 0;
    try {
      for await (const chunk of decodeBody(exchange.readBody(response), headers, this.options.source)) {
        size += chunk.length;
        yield chunk;
      }
    } catch (error) {
      this.signal.throwIfAborted();
      throw error instanceof GeoferryError ? error : this.toFailure(error);
    }
    if (announced !== undefined && Number(announced) !== size)
      throw new TransientFailure(`the server announced ${announced} bytes and sent ${size}`, false, null);
  }

  /** Sends the request and follows redirects. @returns a response whose status is not transient */
  private async receive(request: HttpRequest): Promise<Received> {
    const { form, headers } = request;
    const body = form && Buffer.from(form.toString());
    const type = form && { "content-type": "application/x-www-form-urlencoded" };
    let url = new URL(request.url);
    const { origin } = url;
    for (let hops = 0; hops <= maxRedirects; hops++) {
      await this.limiter.wait(this.signal);
      const own = url.origin === origin ? headers : undefined;
      const all = { "accept-encoding": acceptedEncodings, ...own, ...type };
      const sent = { method: form ? "POST" : "GET", url, headers: all, ...(body && { body }) };
      const exchange = await HttpExchange.start(sent, this.signal);
      let response: IncomingMessage;
      try {
        response = await exchange.waitForResponse().catch((error: unknown) => exchange.toFailure(error));
      } catch (error) {
        this.signal.throwIfAborted();
        throw this.toFailure(error);
      }
      this.isAnswered = true;
      const { statusCode: status = 0, statusMessage } = response;
      if (isRetryableStatus(status)) {
        exchange.drain(response);
        const reason = `the server answers ${status}${statusMessage ? ` ${statusMessage}` : ""}`;
        throw new TransientFailure(reason, false, parseRetryAfter(response.headers));
      }
      if (!redirectStatuses.has(status)) return { exchange, response };
      exchange.destroy();
      url = this.redirect(url, response, form !== undefined);
    }
    throw this.refuse(`the server redirects more than ${maxRedirects} times`);
  }

  private redirect(from: URL, { headers, statusCode }: IncomingMessage, hasForm: boolean): URL {
    const to = redirectTarget(from, headers, (reason) => this.refuse(reason));
    if (hasForm && (to.origin !== from.origin || (statusCode !== 307 && statusCode !== 308)))
      throw this.refuse(`the server redirects a POST to ${redactUrl(to.href)}; name that address instead`);
    return to;
  }

  private refuse(reason: string): GeoferryError {
    return createError("input-download", { source: this.options.source, reason });
  }

  /** A failure that may pass as such, any other as an error of the registry. */
  private toFailure(error: unknown): Error {
    const found = networkError(this.options.source, error, !this.isAnswered);
    if (found.code !== "input-unavailable") return found;
    const isTimeout = error instanceof NoResponseError && error.isTimeout;
    return new TransientFailure(String(found.details.reason), isTimeout, null, error);
  }

  private async retry<T>(attempt: () => Promise<T>): Promise<T> {
    const { retries } = networkSettings();
    let timeouts = 0;
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        if (this.signal.aborted && !(error instanceof GeoferryError)) throw createError("interrupted", {}, error);
        if (!(error instanceof TransientFailure)) throw error;
        const { isTimeout, retryAfterMs, message } = error;
        if (isTimeout) timeouts++;
        if (tries > retries || timeouts > maxTimeoutRetries || (retryAfterMs ?? 0) > maxRetryAfterMs) {
          const reason = tries > 1 ? `${message} (tried ${tries} times)` : message;
          throw createError("input-unavailable", { source: this.options.source, reason }, error);
        }
        if (retryAfterMs !== null) this.limiter.pauseUntil(retryAfterMs);
        await waitOrAbort(backoffMs(tries, firstRetryDelayMs), this.signal).catch((reason: unknown) => {
          throw createError("interrupted", {}, reason);
        });
      }
    }
  }
}
