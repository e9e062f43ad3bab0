/**
 * Derives the outcome of a write from its response (Map Features Service Interface, 2.4 and 7). The interface does not
 * define statuses, so RFC 9110 applies; a response that leaves the outcome open is in doubt.
 */
import { parseEntityTag } from "../http/entity-tag.js";
import { isObject } from "../http/sanitize-for-display.js";
import type { ServiceResponse } from "../http/send-request.js";
import { nilId, type WireFailure, type WireSuccess } from "../wire.js";
import type { WriteOutcome } from "./map-client.js";

/** Failures that do not concern individual features; the caller reports them as errors. */
export type AccessFailure = "forbidden" | "missing" | "full";

/** @param reason description of the response */
export function parseWriteOutcome(response: ServiceResponse, reason: string): WriteOutcome | AccessFailure {
  const { status, isSuccess } = response;
  const result = parseResult(response.json);
  if (isSuccess) return result ? reportedOutcome(response, result) : { kind: "in-doubt", reason };
  if (status === 405 || status === 501) return { kind: "not-offered", status };
  // RFC 4918, 11.5: insufficient storage.
  if (status === 507) return "full";
  if (status < 400 || status >= 500) return { kind: "in-doubt", reason };
  if (status === 403) return "forbidden";
  if (status === 412) return { kind: "changed" };
  if (status === 413) return { kind: "too-large", reason };
  // Results per feature; a problem document (RFC 9457) may contain them.
  if (result && result.success.length + result.failed.length > 0) return reportedOutcome(response, result);
  if (status === 404 || status === 410) return "missing";
  return { kind: "refused", status, reason, failed: [] };
}

interface OperationResult {
  readonly success: readonly WireSuccess[];
  readonly failed: readonly WireFailure[];
  readonly deleted: number | null;
}

const reportedOutcome = ({ headers }: ServiceResponse, result: OperationResult): WriteOutcome => ({
  kind: "answered",
  ...result,
  etag: parseEntityTag(headers),
  replayed: headers["idempotency-replayed"]?.toString().trim().toLowerCase() === "true",
});

/** Parses an operation result. One of its arrays may be absent or null; returns null if both are. */
function parseResult(json: unknown): OperationResult | null {
  if (!isObject(json)) return null;
  const [success, failed] = [parseList(json.success), parseList(json.failed)];
  if (success === "invalid" || failed === "invalid" || (success === null && failed === null)) return null;
  const { deleted } = json;
  return {
    success: (success ?? []).flatMap(parseSuccess),
    failed: (failed ?? []).map(parseFailure),
    deleted: typeof deleted === "number" && Number.isInteger(deleted) && deleted >= 0 ? deleted : null,
  };
}

function parseList(value: unknown): readonly unknown[] | null | "invalid" {
  if (value === undefined || value === null) return null;
  return Array.isArray(value) ? value : "invalid";
}

/** Ignores entries without an id: the batch then lacks a success and stays in doubt. */
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
    // Nested too deeply to serialize.
    return "";
  }
}
