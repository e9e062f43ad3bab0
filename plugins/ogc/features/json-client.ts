/** Gets JSON resources of an OGC API. */
import { parseWithBigints } from "../../../src/model/index.js";
import type { HttpResponse } from "../../../src/plugin/index.js";
import { describeSyntaxError } from "../../shared/json/parse-features.js";
import { jsonTextOf, type ParsingLoss, parsingLossesOf } from "../../shared/json/parsing-losses.js";
import { isObject, type Json, objectsOf, textOf } from "../../shared/json/values.js";
import type { PageRequests } from "../service/page-requests.js";
import { exceptionMessage, type OgcClient, RequestRefused, type ResponseCheck } from "../service/service-client.js";

/** Media types by the member that an answer must have: QGIS Server refuses those that a resource does not have. */
const acceptOf = (member: string): string => {
  if (member === "features") return "application/geo+json, application/json;q=0.9";
  return member === "properties" ? "application/schema+json, application/json;q=0.9" : "application/json";
};

export interface JsonResponse {
  readonly json: Json;
  /** What parsing it lost. */
  readonly losses: readonly ParsingLoss[];
  readonly headers: HttpResponse["headers"];
}

/** Codes of errors that the same request always gets. */
const permanentCode = /Invalid|NotFound|Missing|NotSupported|NotImplemented|BadRequest/i;

type ParsedBody = Pick<JsonResponse, "json" | "losses">;

/** What the check has parsed already; other responses may arrive between the check and the use of one. */
const parsedBodies = new WeakMap<Buffer, ParsedBody>();

const textOfBody = ({ body, headers }: HttpResponse): string =>
  jsonTextOf(body, [headers["content-type"] ?? ""].flat()[0]);

const withLosses = (body: Buffer, text: string, json: Json): ParsedBody => ({
  json,
  losses: parsingLossesOf(body, text, json),
});

/** A response whose check found an object, or that was kept since. */
function parsedBody(response: HttpResponse): ParsedBody {
  const known = parsedBodies.get(response.body);
  if (known) return known;
  const text = textOfBody(response);
  return withLosses(response.body, text, parseWithBigints(text) as Json);
}

/** Checks that a response has a member, and is no error (OGC 17-069r4, 7.5.1). */
function checkMember(member: string): (response: HttpResponse) => ResponseCheck {
  return (response) => {
    const { body } = response;
    const text = textOfBody(response);
    let json: unknown;
    try {
      json = parseWithBigints(text);
    } catch (error) {
      const isPage = /^\s*</.test(text);
      const exception = isPage ? exceptionMessage(text) : null;
      const reason = isPage
        ? "the server sent a web page instead of JSON"
        : `the response is ${describeSyntaxError(error)}`;
      return { error: exception ?? reason, isTransient: !isPage || exception !== null };
    }
    if (isObject(json) && member in json) {
      parsedBodies.set(body, withLosses(body, text, json));
      return { error: null, isTransient: false };
    }
    if (Array.isArray(json)) [json] = json as unknown[];
    const code = isObject(json) ? (textOf(json.code) ?? textOf(json.title) ?? "") : "";
    const said = isObject(json) ? [code, textOf(json.description) ?? textOf(json.detail) ?? ""] : [];
    const message = said.filter((each) => each !== "").join(": ");
    return { error: message || `the response has no "${member}"`, isTransient: !permanentCode.test(code) };
  };
}

/** @param member that the answer must have @throws RequestRefused and what the client throws */
export async function requestJson(client: PageRequests, url: URL, member: string): Promise<JsonResponse> {
  const check = checkMember(member);
  const accept = acceptOf(member);
  let response: HttpResponse;
  try {
    response = await client.request(url, accept, check);
  } catch (error) {
    // A server that shows a page by default may have JSON under a parameter.
    if (!(error instanceof RequestRefused) || url.searchParams.has("f") || !/web page|406/.test(error.message))
      throw error;
    const other = new URL(url);
    other.searchParams.set("f", "json");
    response = await client.request(other, accept, check);
  }
  return { ...parsedBody(response), headers: response.headers };
}

/** As `requestJson`, but a refusal is an error of the registry. @throws feature-service-refused */
export async function getJson(client: OgcClient, url: URL, member: string): Promise<JsonResponse> {
  try {
    return await requestJson(client, url, member);
  } catch (error) {
    throw error instanceof RequestRefused ? client.refused(`${url.pathname}: ${error.message}`) : error;
  }
}

/** The address of a link with this relation, by the preference of media types; null if there is none. */
export function linkOf({ links }: Json, relation: RegExp, base: URL): URL | null {
  const found = objectsOf(links).filter(({ rel }) => relation.test(textOf(rel) ?? ""));
  const ranks = [/geo\+json/i, /schema\+json/i, /json/i];
  const rank = ({ type }: Json): number => {
    const at = ranks.findIndex((each) => each.test(textOf(type) ?? ""));
    return at >= 0 ? at : textOf(type) === null ? ranks.length : ranks.length + 1;
  };
  const [best] = [...found].sort((a, b) => rank(a) - rank(b));
  const href = best && textOf(best.href);
  return href ? toWebUrl(href, base) : null;
}

/** The URL of an address in a document; null if it cannot be requested. */
export function toWebUrl(href: string, base: URL): URL | null {
  if (!URL.canParse(href, base.href)) return null;
  const url = new URL(href, base.href);
  return /^https?:$/.test(url.protocol) ? url : null;
}
