/** Sends requests to one OGC service. */
import { escapeControlCharacters } from "../../../src/escape-control-characters.js";
import {
  createError,
  type GeoferryError,
  type HttpClient,
  type HttpResponse,
  type ReadContext,
  type Source,
} from "../../../src/plugin/index.js";
import { parseServiceUrl, redactAddress } from "./address.js";
import { authorizationOf, type Credentials, readCredentials, requireEncryption, secretsOf } from "./credentials.js";

const maxMessage = 300;

/** The service refused a request for a reason that may depend on it. */
export class RequestRefused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** What the content of a response is worth: data, or an error of the service. */
export interface ResponseCheck {
  /** Why the content is not data; null if it is. */
  readonly error: string | null;
  /** Whether another attempt may help. */
  readonly isTransient: boolean;
}

const isData: ResponseCheck = { error: null, isTransient: false };

/**
 * The client of a source, with the credentials of the environment.
 * @param scheme what may stand before the address, without the colon
 * @param rate most requests per second
 * @throws usage
 */
export async function createOgcClient(
  source: Source,
  scheme: "wfs" | "oapif",
  rate: number | undefined,
  context: ReadContext,
): Promise<OgcClient> {
  const base = parseServiceUrl(source.path, scheme);
  const name = redactAddress(source.name);
  const credentials = readCredentials(process.env);
  requireEncryption(name, base, credentials);
  return new OgcClient(name, base, await context.createHttpClient({ source: name, rate }), credentials);
}

export class OgcClient {
  /** Texts that are removed from messages, since a service may repeat them. */
  private readonly secrets: readonly string[];
  private readonly authorization: string | null;

  /** @param source the service as messages name it */
  constructor(
    readonly source: string,
    readonly base: URL,
    private readonly client: HttpClient,
    private readonly credentials: Credentials,
  ) {
    this.secrets = secretsOf(credentials);
    this.authorization = authorizationOf(credentials);
  }

  /**
   * @param check says whether the content of a response with status below 400 is data
   * @throws RequestRefused, feature-service-forbidden and what the host's client throws
   */
  async request(url: URL, accept: string, check: (response: HttpResponse) => ResponseCheck): Promise<HttpResponse> {
    const isOwn = url.origin === this.base.origin;
    const target = new URL(url);
    const { parameter } = this.credentials;
    if (isOwn && parameter && !target.searchParams.has(parameter[0])) target.searchParams.append(...parameter);
    const headers = { accept, ...(isOwn && this.authorization !== null && { authorization: this.authorization }) };
    let found: ResponseCheck = isData;
    const response = await this.client.send({ url: target.href, headers }, (answer) => {
      found = answer.status < 400 ? check(answer) : isData;
      return found.error !== null && found.isTransient ? this.clean(found.error) : null;
    });
    const { status, body } = response;
    if (status === 401 || status === 403) throw this.forbidden(status, body);
    if (status >= 400) throw new RequestRefused(status, this.describe(status, body));
    if (found.error !== null) throw new RequestRefused(status, this.clean(found.error));
    return response;
  }

  /** As `request`, but a refusal is an error of the registry. @throws feature-service-refused */
  async get(url: URL, accept: string, check: (response: HttpResponse) => ResponseCheck): Promise<HttpResponse> {
    try {
      return await this.request(url, accept, check);
    } catch (error) {
      throw error instanceof RequestRefused ? this.refused(error.message) : error;
    }
  }

  refused(reason: string): GeoferryError {
    return createError("feature-service-refused", { source: this.source, reason });
  }

  private forbidden(status: number, body: Buffer): GeoferryError {
    const hasAny = this.authorization !== null || this.credentials.parameter !== null;
    const advice = hasAny
      ? "check GEOFERRY_OGC_USER and GEOFERRY_OGC_PASSWORD, GEOFERRY_OGC_TOKEN or GEOFERRY_OGC_PARAMETER, and that they allow reading the layer"
      : "set GEOFERRY_OGC_USER and GEOFERRY_OGC_PASSWORD, GEOFERRY_OGC_TOKEN, or GEOFERRY_OGC_PARAMETER";
    return createError("feature-service-forbidden", {
      source: this.source,
      reason: this.describe(status, body),
      advice,
    });
  }

  /** The status, with what an error in XML or JSON says. */
  private describe(status: number, body: Buffer): string {
    const text = body.toString("utf8", 0, 1 << 16);
    const said = /^\s*[[{]/.test(text) ? jsonMessage(text) : exceptionMessage(text);
    return this.clean(said === null ? `the server answers ${status}` : `${said} (status ${status})`);
  }

  /** One printable line without secrets; a service may repeat what it received. */
  private clean(text: string): string {
    let line = text;
    for (const secret of this.secrets) line = line.replaceAll(secret, "…").replaceAll(encodeURIComponent(secret), "…");
    line = escapeControlCharacters(line.replace(/\s+/g, " ").trim());
    return line.length > maxMessage ? `${line.slice(0, maxMessage - 1)}…` : line;
  }
}

function jsonMessage(text: string): string | null {
  try {
    const json: unknown = JSON.parse(text);
    const { description, detail, title, message } = (Array.isArray(json) ? json[0] : json) as Record<string, unknown>;
    const found = [title, detail, description, message].filter((each) => typeof each === "string" && each !== "");
    return found.length === 0 ? null : [...new Set(found)].join(": ");
  } catch {
    return null;
  }
}

/** The text of an exception report (OGC 06-121r9, 8; OGC 04-094, 7.7); null for another document. */
export function exceptionMessage(text: string): string | null {
  if (!/<(\w+:)?(ExceptionReport|ServiceExceptionReport)[\s>]/.test(text.slice(0, 4096))) return null;
  const code = /\b(?:exceptionCode|code)\s*=\s*["']([^"']*)["']/.exec(text)?.[1];
  const words = text
    .replace(/<\?[\s\S]*?\?>|<!--[\s\S]*?-->/g, "")
    .replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, "$1")
    .replace(/<[^>]*>/g, " ")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&apos;|&#39;/g, "'")
    .replace(/&amp;/g, "&")
    .replace(/\s+/g, " ")
    .trim();
  return code ? `${words || "an exception"} (${code})` : words || "an exception report without text";
}

/** Codes of exceptions that the same request always gets (OGC 09-025r2, 7.5). */
const permanentCode =
  /InvalidParameterValue|MissingParameterValue|OperationNotSupported|OptionNotSupported|OperationParsingFailed|InvalidValue|InvalidUpdateSequence|VersionNegotiationFailed|NotFound/;

/** Whether the same request always gets this exception. */
export const isPermanent = (exception: string): boolean => permanentCode.test(exception);

/** Checks that a response is an XML document with one of these roots, and not cut. */
export function checkXml(roots: RegExp): (response: HttpResponse) => ResponseCheck {
  return ({ body }) => {
    const text = body.toString("latin1", 0, 4096);
    const exception = exceptionMessage(body.length < 1 << 20 ? body.toString("utf8") : text);
    if (exception !== null) return { error: exception, isTransient: !isPermanent(exception) };
    const start = text
      .replace(/^\xef\xbb\xbf/, "")
      .replace(/^(\s|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!DOCTYPE[^>]*>)*/, "");
    const root = /^<([\w.-]+:)?([\w.-]+)/.exec(start);
    if (!root) return { error: "the response is not an XML document", isTransient: true };
    if (!roots.test(root[2]!))
      return { error: `the response is a <${root[2]}> document`, isTransient: /^html$/i.test(root[2]!) };
    const name = `${root[1] ?? ""}${root[2]}`;
    const end = body.toString("latin1", Math.max(0, body.length - 1024)).replace(/(\s|<!--[^>]*-->)*$/, "");
    const isWhole = end.endsWith(`</${name}>`) || /\/>$/.test(end) || new RegExp(`</${name}\\s+>$`).test(end);
    return isWhole ? isData : { error: "the response is truncated", isTransient: true };
  };
}
