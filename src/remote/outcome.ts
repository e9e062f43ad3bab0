/**
 * What came of a write, from its answer (Map Features Service Interface, 2.4 and 7). The interface shows no statuses:
 * those of RFC 9110 are taken at their word, and whatever leaves open what was done is in doubt.
 */

import { revisionTag } from "./entity-tag.js";
import type { Answer } from "./exchange.js";
import type { WriteOutcome } from "./map-client.js";
import { isObject } from "./told.js";
import { nilId, type WireFailure, type WireSuccess } from "./wire.js";

/** Statuses that are not about the features: whoever asked learns it by an error. */
export type Beyond = "forbidden" | "missing" | "full";

/** @param reason what the answer says, in words */
export function outcomeOf(answer: Answer, reason: string): WriteOutcome | Beyond {
  const { status, isSuccess } = answer;
  const result = resultIn(answer.json);
  if (isSuccess) return result ? answered(answer, result) : { kind: "in-doubt", reason };
  if (status === 405 || status === 501) return { kind: "not-offered", status };
  // RFC 4918, 11.5: the service could not store what the request asks for.
  if (status === 507) return "full";
  if (status < 400 || status >= 500) return { kind: "in-doubt", reason };
  if (status === 403) return "forbidden";
  if (status === 412) return { kind: "changed" };
  if (status === 413) return { kind: "too-large", reason };
  // Told feature by feature; a problem (RFC 9457) may carry it.
  if (result && result.success.length + result.failed.length > 0) return answered(answer, result);
  if (status === 404 || status === 410) return "missing";
  return { kind: "refused", status, reason, failed: [] };
}

interface Result {
  readonly success: readonly WireSuccess[];
  readonly failed: readonly WireFailure[];
  readonly deleted: number | null;
}

const answered = ({ headers }: Answer, result: Result): WriteOutcome => ({
  kind: "answered",
  ...result,
  etag: revisionTag(headers),
  replayed: headers["idempotency-replayed"]?.toString().trim().toLowerCase() === "true",
});

/** An operation result; one of its arrays may be absent, or null. Null where it has neither. */
function resultIn(json: unknown): Result | null {
  if (!isObject(json)) return null;
  const [success, failed] = [listIn(json.success), listIn(json.failed)];
  if (success === "odd" || failed === "odd" || (success === null && failed === null)) return null;
  const { deleted } = json;
  return {
    success: (success ?? []).flatMap(successOf),
    failed: (failed ?? []).map(failureOf),
    deleted: typeof deleted === "number" && Number.isInteger(deleted) && deleted >= 0 ? deleted : null,
  };
}

function listIn(value: unknown): readonly unknown[] | null | "odd" {
  if (value === undefined || value === null) return null;
  return Array.isArray(value) ? value : "odd";
}

/** Without an id it tells of no feature: then one is missing, and its batch is in doubt. */
const successOf = (entry: unknown): WireSuccess[] =>
  isObject(entry) && typeof entry.id === "string" && entry.id !== ""
    ? [{ id: entry.id, message: textOf(entry.message) }]
    : [];

const failureOf = (entry: unknown): WireFailure =>
  isObject(entry)
    ? {
        id: typeof entry.id === "string" ? entry.id : nilId,
        path: textOf(entry.path),
        message: textOf(entry.message),
      }
    : { id: nilId, path: "", message: textOf(entry) };

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  try {
    return JSON.stringify(value);
  } catch {
    // Nested deeper than it can be written.
    return "";
  }
}
