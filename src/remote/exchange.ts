/**
 * One request and its answer, or what came between them. Nothing is repeated here. By node:http, which takes a third of
 * what fetch takes to send a thousand features.
 */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { brokenOff, HttpExchange, Unanswered } from "../io/http.js";
import type { NetworkSettings } from "../network.js";
import { decoded, mostBytes, mostErrorBytes, NotUtf8, TooLarge } from "./answer-body.js";

export { Unanswered };

export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Headers of an answer: names in lower case; one that came several times is joined by commas. */
export type AnswerHeaders = Readonly<IncomingHttpHeaders>;

/** An answer that arrived whole. */
export class Answer {
  private parsed: { readonly json: unknown } | null = null;

  constructor(
    readonly status: number,
    readonly headers: AnswerHeaders,
    /** Its body, without a mark of byte order. */
    readonly text: string,
  ) {}

  /** Its JSON; undefined where it is none, or torn. */
  get json(): unknown {
    this.parsed ??= { json: parse(this.text) };
    return this.parsed.json;
  }

  get isSuccess(): boolean {
    return this.status >= 200 && this.status < 300;
  }
}

function parse(text: string): unknown {
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
export async function exchange(
  { body, ...request }: Request,
  limits: Partial<NetworkSettings>,
  signal: AbortSignal,
): Promise<Answer> {
  const bytes = body === undefined ? {} : { body: Buffer.from(body) };
  const sent = await HttpExchange.begin({ ...request, ...bytes }, signal, limits);
  try {
    const response = await sent.answer();
    const { statusCode = 0, headers } = response;
    const carried = (length: number) => sent.watch.carried(length);
    if (statusCode >= 400) return new Answer(statusCode, headers, await explanation(response, carried));
    const body = await wholeBody(response, mostBytes, carried);
    return new Answer(statusCode, headers, await textOf(body, headers, mostBytes));
  } catch (error) {
    if (error instanceof TooLarge || error instanceof NotUtf8)
      throw new Unanswered({ reason: error.message, passes: false, untrusted: false }, false, false, error);
    return sent.failed(error);
  } finally {
    sent.close();
  }
}

/** What an answer says that is a failure; empty where that is too much, or cannot be read: its status says enough. */
async function explanation(response: IncomingMessage, carried: (bytes: number) => void): Promise<string> {
  try {
    const body = await wholeBody(response, mostErrorBytes, carried);
    return await textOf(body, response.headers, mostErrorBytes);
  } catch (error) {
    if (error instanceof TooLarge || error instanceof NotUtf8) return "";
    throw error;
  }
}

/** @throws TooLarge, NotUtf8 */
async function textOf(body: Buffer, headers: AnswerHeaders, most: number): Promise<string> {
  const bytes = await decoded(body, headers, most);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new NotUtf8(error);
  }
}

function wholeBody(response: IncomingMessage, most: number, carried: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    response.on("data", (chunk: Buffer) => {
      size += chunk.length;
      carried(chunk.length);
      chunks.push(chunk);
      if (size > most) response.destroy(new TooLarge(most));
    });
    response.on("end", () => resolve(Buffer.concat(chunks, size)));
    response.on("error", reject);
    response.on("close", () => reject(brokenOff()));
  });
}
