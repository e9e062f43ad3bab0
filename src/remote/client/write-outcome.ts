/**
 * What came of a write, from its answer (Map Features Service Interface, 2.4 and 7). The interface shows no statuses:
 * those of RFC 9110 are taken at their word, and whatever leaves open what was done is in doubt.
 */
import { parseEntityTag } from "../http/entity-tag.js";
import { isObject } from "../http/sanitize-for-display.js";
import type { ServiceResponse } from "../http/send-request.js";
import { nilId, type WireFailure, type WireSuccess } from "../wire.js";
import type { WriteOutcome } from "./map-client.js";

/** Statuses that are not about the features: whoever asked learns it by an error. */
export type AccessFailure = "forbidden" | "missing" | "full";

/** @param reason what the answer says, in words */
export function parseWriteOutcome(answer: ServiceResponse, reason: string): WriteOutcome | AccessFailure {
  const { status, isSuccess } = answer;
  const result = parseResult(answer.json);
  if (isSuccess) return result ? answeredOutcome(answer, result) : { kind: "in-doubt", reason };
  if (status === 405 || status === 501) return { kind: "not-offered", status };
  // RFC 4918, 11.5: the service could not store what the request asks for.
  if (status === 507) return "full";
  if (status < 400 || status >= 500) return { kind: "in-doubt", reason };
  if (status === 403) return "forbidden";
  if (status === 412) return { kind: "changed" };
  if (status === 413) return { kind: "too-large", reason };
  // Told feature by feature; a problem (RFC 9457) may carry it.
  if (result && result.success.length + result.failed.length > 0) return answeredOutcome(answer, result);
  if (status === 404 || status === 410) return "missing";
  return { kind: "refused", status, reason, failed: [] };
}

interface OperationResult {
  readonly success: readonly WireSuccess[];
  readonly failed: readonly WireFailure[];
  readonly deleted: number | null;
}

const answeredOutcome = ({ headers }: ServiceResponse, result: OperationResult): WriteOutcome => ({
  kind: "answered",
  ...result,
  etag: parseEntityTag(headers),
  replayed: headers["idempotency-replayed"]?.toString().trim().toLowerCase() === "true",
});

/** An operation result; one of its arrays may be absent, or null. Null where it has neither. */
function parseResult(json: unknown): OperationResult | null {
  if (!isObject(json)) return null;
  const [success, failed] = [parseList(json.success), parseList(json.failed)];
  if (success === "odd" || failed === "odd" || (success === null && failed === null)) return null;
  const { deleted } = json;
  return {
    success: (success ?? []).flatMap(parseSuccess),
    failed: (failed ?? []).map(parseFailure),
    deleted: typeof deleted === "number" && Number.isInteger(deleted) && deleted >= 0 ? deleted : null,
  };
}

function parseList(value: unknown): readonly unknown[] | null | "odd" {
  if (value === undefined || value === null) return null;
  return Array.isArray(value) ? value : "odd";
}

/** Without an id it tells of no feature: then one is missing, and its batch is in doubt. */
const parseSuccess = (entry: unknown): WireSuccess[] =>
  isObject(entry) && typeof entry.id === "string" && entry.id !== ""
    ? [{ id: entry.id, message: toText(entry.message) }]
    : [];

const parseFailure = (entry: unknown): WireFailure =>
  isObject(entry)
    ? {
        id: typeof entry.id === "string" ? entry.id : nilId,
        path: toText(entry.path),
        message: toText(entry.message),
      }
    : { id: nilId, path: "", message: toText(entry) };

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  try {
    return JSON.stringify(value);
  } catch {
    // Nested deeper than it can be written.
    return "";
  }
}
