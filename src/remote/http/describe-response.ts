/** Classifies and describes responses by status, headers and error text. */

import { parseRetryAfter } from "../../io/http/rate-limiter.js";
import type { RetryReason } from "./retry.js";
import { findErrorMessage, isObject, sanitizeForDisplay } from "./sanitize-for-display.js";
import type { ServiceResponse } from "./send-request.js";

/** Describes an unexpected response: "HTTP 404: There is no such map." */
export function describeResponse(response: ServiceResponse, secrets: readonly string[]): string {
  const { status, headers } = response;
  const explanation = findErrorMessage(response.json);
  if (explanation !== null) return `HTTP ${status}: ${sanitizeForDisplay(explanation, secrets)}`;
  if (isHtmlPage(response)) return `HTTP ${status} with an HTML page`;
  const { location } = headers;
  if (status >= 300 && status < 400 && location !== undefined)
    return `HTTP ${status}, a redirect to ${sanitizeForDisplay(withoutQuery(location), secrets)}`;
  return response.isSuccess ? `HTTP ${status} ${describeUnexpectedBody(response)}` : `HTTP ${status}`;
}

const describeUnexpectedBody = (response: ServiceResponse): string => {
  if (response.text === "") return "with an empty body";
  return isObject(response.json) ? "with an unexpected JSON object" : "with a body that is not JSON or is incomplete";
};

const withoutQuery = (address: string): string => address.replace(/[?#].*$/s, "").replace(/\/\/[^/]*@/, "//");

export const isHtmlPage = ({ headers, text }: ServiceResponse): boolean =>
  /^(text\/html|application\/xhtml)/i.test(headers["content-type"] ?? "") ||
  /^\s*<(!doctype\s+html|html)\b/i.test(text);

/** Problem codes with which geoferry's own service marks a 503 as "not processed yet, but will be". */
const unprocessedProblemCodes: ReadonlySet<unknown> = new Set(["reading-keys"]);

/**
 * Whether the service processed nothing and a later retry can succeed: RFC 9110, 15.5.9 (408); RFC 8470, 5.2 (425); RFC
 * 6585, 4 (429); or a conflict marked as temporary, such as an Idempotency-Key in use. Any other 503 leaves open what
 * was processed.
 */
export const isRetryLater = ({ status, headers, json }: ServiceResponse): boolean =>
  status === 408 ||
  status === 425 ||
  status === 429 ||
  (status === 409 && headers["retry-after"] !== undefined) ||
  isInProgress({ status, json });

const isInProgress = ({ status, json }: Pick<ServiceResponse, "status" | "json">): boolean =>
  status === 503 && isObject(json) && unprocessedProblemCodes.has(json.code);

/** Retry after the delay that the service requests. */
export const toRetry = ({ status, json, headers }: ServiceResponse, reason: string): RetryReason => ({
  isRetryable: reason,
  retryAfterMs: parseRetryAfter(headers),
  ...(isInProgress({ status, json }) && { isInProgress: true }),
  ...(status === 409 && { isKeyInUse: true }),
});
