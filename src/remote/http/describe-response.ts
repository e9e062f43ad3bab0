/** What an answer is, before anybody asks what it says. */

import { parseRetryAfter } from "./rate-limiter.js";
import type { RetryReason } from "./retry.js";
import { findErrorMessage, isObject, sanitizeForDisplay } from "./sanitize-for-display.js";
import type { ServiceResponse } from "./send-request.js";

/** An answer that is not what was asked for, in words: "it answers 404: There is no such map." */
export function describeResponse(answer: ServiceResponse, secrets: readonly string[]): string {
  const { status, headers } = answer;
  const explanation = findErrorMessage(answer.json);
  if (explanation !== null) return `it answers ${status}: ${sanitizeForDisplay(explanation, secrets)}`;
  if (isHtmlPage(answer)) return `it answers ${status} with a web page`;
  const { location } = headers;
  if (status >= 300 && status < 400 && location !== undefined)
    return `it answers ${status} and leads to ${sanitizeForDisplay(withoutQuery(location), secrets)}`;
  return answer.isSuccess ? `it answers ${status} ${describeUnexpectedBody(answer)}` : `it answers ${status}`;
}

const describeUnexpectedBody = (answer: ServiceResponse): string => {
  if (answer.text === "") return "with nothing";
  return isObject(answer.json) ? "with something else" : "with what is no JSON, or torn";
};

const withoutQuery = (address: string): string => address.replace(/[?#].*$/s, "").replace(/\/\/[^/]*@/, "//");

export const isHtmlPage = ({ headers, text }: ServiceResponse): boolean =>
  /^(text\/html|application\/xhtml)/i.test(headers["content-type"] ?? "") ||
  /^\s*<(!doctype\s+html|html)\b/i.test(text);

/** Codes of problems by which geoferry's own service says with a 503 that nothing of the request was done yet, but will be. */
const unprocessedProblemCodes: ReadonlySet<unknown> = new Set(["reading-keys"]);

/**
 * Nothing was done because it was too early, too much or too slow, and will be done later: RFC 9110, 15.5.9 (408);
 * RFC 8470, 5.2 (425); RFC 6585, 4 (429); a conflict that is said to pass, as with an Idempotency-Key in use. Of any
 * other 503 nobody knows what was done before it.
 */
export const isRetryLater = ({ status, headers, json }: ServiceResponse): boolean =>
  status === 408 ||
  status === 425 ||
  status === 429 ||
  (status === 409 && headers["retry-after"] !== undefined) ||
  isInProgress({ status, json });

const isInProgress = ({ status, json }: Pick<ServiceResponse, "status" | "json">): boolean =>
  status === 503 && isObject(json) && unprocessedProblemCodes.has(json.code);

/** To be asked again when the service says. */
export const toRetry = ({ status, json, headers }: ServiceResponse, reason: string): RetryReason => ({
  isRetryable: reason,
  retryAfterMs: parseRetryAfter(headers),
  ...(isInProgress({ status, json }) && { isInProgress: true }),
  ...(status === 409 && { isKeyInUse: true }),
});
