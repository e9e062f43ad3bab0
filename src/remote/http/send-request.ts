/**
 * One request and its answer, or what came between them. Nothing is repeated here. By node:http, which takes a third of
 * what fetch takes to send a thousand features.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { connectionClosedError, HttpExchange, NoResponseError } from "../../io/http/http-exchange.js";
import type { NetworkSettings } from "../../network-settings.js";
import { decodeBody, InvalidUtf8, maxErrorBytes, maxResponseBytes, ResponseTooLarge } from "./decode-body.js";

export { NoResponseError };

export interface ServiceRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Headers of an answer: names in lower case; one that came several times is joined by commas. */
export type ServiceResponseHeaders = Readonly<IncomingHttpHeaders>;

/** An answer that arrived whole. */
export class ServiceResponse {
  private parsed: { readonly json: unknown } | null = null;

  constructor(
    readonly status: number,
    readonly headers: ServiceResponseHeaders,
    /** Its body, without a mark of byte order. */
    readonly text: string,
  ) {}

  /** Its JSON; undefined where it is none, or torn. */
  get json(): unknown {
    this.parsed ??= { json: parseJson(this.text) };
    return this.parsed.json;
  }

  get isSuccess(): boolean {
    return this.status >= 200 && this.status < 300;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Redirects come back as answers.
 * @param limits what is not among them is as `network()` says
 * @throws Unanswered; the reason of `signal`
 */
export async function sendRequest(
  { body, ...request }: ServiceRequest,
  limits: Partial<NetworkSettings>,
  signal: AbortSignal,
): Promise<ServiceResponse> {
  const bytes = body === undefined ? {} : { body: Buffer.from(body) };
  const sent = await HttpExchange.start({ ...request, ...bytes }, signal, limits);
  try {
    const response = await sent.waitForResponse();
    const { statusCode = 0, headers } = response;
    const carried = (length: number) => sent.timeout.onBytes(length);
    if (statusCode >= 400) return new ServiceResponse(statusCode, headers, await readErrorBody(response, carried));
    const body = await readBody(response, maxResponseBytes, carried);
    return new ServiceResponse(statusCode, headers, await decodeText(body, headers, maxResponseBytes));
  } catch (error) {
    if (error instanceof ResponseTooLarge || error instanceof InvalidUtf8)
      throw new NoResponseError({ reason: error.message, isTransient: false, isUntrusted: false }, false, false, error);
    return sent.toFailure(error);
  } finally {
    sent.close();
  }
}

/** What an answer says that is a failure; empty where that is too much, or cannot be read: its status says enough. */
async function readErrorBody(response: IncomingMessage, carried: (bytes: number) => void): Promise<string> {
  try {
    const body = await readBody(response, maxErrorBytes, carried);
    return await decodeText(body, response.headers, maxErrorBytes);
  } catch (error) {
    if (error instanceof ResponseTooLarge || error instanceof InvalidUtf8) return "";
    throw error;
  }
}

/** @throws TooLarge, NotUtf8 */
async function decodeText(body: Buffer, headers: ServiceResponseHeaders, most: number): Promise<string> {
  const bytes = await decodeBody(body, headers, most);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new InvalidUtf8(error);
  }
}

function readBody(response: IncomingMessage, most: number, carried: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      carried(chunk.length);
      chunks.push(chunk);
      if (size > most) response.destroy(new ResponseTooLarge(most));
    });
    response.on("end", () => resolve(Buffer.concat(chunks, size)));
    response.on("error", reject);
    response.on("close", () => reject(connectionClosedError()));
  });
}
