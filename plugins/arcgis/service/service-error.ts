/** Errors of ArcGIS services, which come in answers with status 200 too (ArcGIS REST API, "Handling errors"). */

import { escapeControlCharacters } from "../../../src/escape-control-characters.js";
import { parseExactly } from "../../../src/model/index.js";
import { describeSyntaxError } from "../../shared/json/parse-features.js";
import { type ParsingLoss, parsingLossesOf } from "../../shared/json/parsing-losses.js";
import { isObject, textOf } from "../../shared/json/values.js";

export interface ServiceError {
  /** The code of the service, or the HTTP status. */
  readonly code: number;
  readonly message: string;
}

const maxMessage = 300;

/** The codes for a token that is missing or no longer valid. */
const tokenCodes = new Set([498, 499]);
/** Also sent for layers that a token would open. */
const forbiddenCodes = new Set([401, 403]);

export const isTokenError = ({ code }: ServiceError): boolean => tokenCodes.has(code);
export const isForbidden = ({ code }: ServiceError): boolean => tokenCodes.has(code) || forbiddenCodes.has(code);
/** Errors of a server that has too much to do. */
export const isTransient = ({ code }: ServiceError): boolean =>
  code >= 500 || code === 408 || code === 429 || code === 0;

/** One printable line without secrets; a service may repeat what it received. */
function sanitize(text: string, secrets: readonly string[]): string {
  let line = text;
  for (const secret of secrets) if (secret !== "") line = line.replaceAll(secret, "…");
  line = escapeControlCharacters(line.replace(/\s+/g, " ").trim());
  return line.length > maxMessage ? `${line.slice(0, maxMessage - 1)}…` : line;
}

/**
 * Parses an answer. An answer that is not JSON is an error with code 0: a proxy's page, or a cut answer.
 * @param secrets texts that the message must not contain
 */
export function serviceErrorOf(
  status: number,
  body: Buffer,
  secrets: readonly string[],
): { readonly json: unknown; readonly error: ServiceError | null; readonly losses?: readonly ParsingLoss[] } {
  const text = body.toString("utf8");
  let json: unknown;
  try {
    json = parseExactly(text);
  } catch (error) {
    if (status >= 400) return { json: null, error: { code: status, message: `the server answers ${status}` } };
    const isPage = /^\s*</.test(text);
    const message = isPage
      ? "the server sent a web page instead of data"
      : `the response is ${describeSyntaxError(error)}`;
    return { json: null, error: { code: 0, message } };
  }
  const stated = isObject(json) && isObject(json.error) ? json.error : null;
  if (stated) {
    const details = Array.isArray(stated.details) ? stated.details.filter((each) => typeof each === "string") : [];
    const words = [textOf(stated.message) ?? "", ...details].filter((each) => each !== "");
    const code = typeof stated.code === "number" ? stated.code : status >= 400 ? status : 500;
    return { json, error: { code, message: sanitize(`${[...new Set(words)].join(": ")} (code ${code})`, secrets) } };
  }
  if (status >= 400) return { json, error: { code: status, message: `the server answers ${status}` } };
  return { json, error: null, losses: parsingLossesOf(body, text, json) };
}
