/** What an answer is, before anybody asks what it says. */
import type { Answer } from "./exchange.js";
import { retryAfter } from "./pace.js";
import type { Again } from "./retry.js";
import { explanationIn, isObject, told } from "./told.js";

/** An answer that is not what was asked for, in words: "it answers 404: There is no such map." */
export function describeAnswer(answer: Answer, secrets: readonly string[]): string {
  const { status, headers } = answer;
  const explanation = explanationIn(answer.json);
  if (explanation !== null) return `it answers ${status}: ${told(explanation, secrets)}`;
  if (isPage(answer)) return `it answers ${status} with a web page`;
  const { location } = headers;
  if (status >= 300 && status < 400 && location !== undefined)
    return `it answers ${status} and leads to ${told(withoutQuery(location), secrets)}`;
  return answer.isSuccess ? `it answers ${status} ${lackOf(answer)}` : `it answers ${status}`;
}

const lackOf = (answer: Answer): string => {
  if (answer.text === "") return "with nothing";
  return isObject(answer.json) ? "with something else" : "with what is no JSON, or torn";
};

const withoutQuery = (address: string): string => address.replace(/[?#].*$/s, "").replace(/\/\/[^/]*@/, "//");

export const isPage = ({ headers, text }: Answer): boolean =>
  /^(text\/html|application\/xhtml)/i.test(headers["content-type"] ?? "") ||
  /^\s*<(!doctype\s+html|html)\b/i.test(text);

/** Codes of problems by which geoferry's own service says with a 503 that nothing of the request was done yet, but will be. */
const undone: ReadonlySet<unknown> = new Set(["reading-keys"]);

/**
 * Nothing was done because it was too early, too much or too slow, and will be done later: RFC 9110, 15.5.9 (408);
 * RFC 8470, 5.2 (425); RFC 6585, 4 (429); a conflict that is said to pass, as with an Idempotency-Key in use. Of any
 * other 503 nobody knows what was done before it.
 */
export const isPostponed = ({ status, headers, json }: Answer): boolean =>
  status === 408 ||
  status === 425 ||
  status === 429 ||
  (status === 409 && headers["retry-after"] !== undefined) ||
  isUnderWay({ status, json });

const isUnderWay = ({ status, json }: Pick<Answer, "status" | "json">): boolean =>
  status === 503 && isObject(json) && undone.has(json.code);

/** To be asked again when the service says. */
export const postponed = ({ status, json, headers }: Answer, reason: string): Again => ({
  again: reason,
  after: retryAfter(headers),
  ...(isUnderWay({ status, json }) && { underWay: true }),
  ...(status === 409 && { inUse: true }),
});
