/** Responses to writes (Map Features Service Interface, 2.4 and 7). */
import { nilId, type WireFailure } from "../../remote/wire.js";
import { problem } from "../http/problems.js";
import type { FailedFeature, WriteItem, WriteOutcome } from "../store/contract.js";
import { serializeWrittenFeatures } from "../store/write-result-json.js";

/** `features[3].geometry.coordinates[1]` */
export function toWireFailure({ index, id, path, message }: FailedFeature): WireFailure {
  const below = path === "" || path.startsWith("[") ? path : `.${path}`;
  return { id, path: `features[${index}]${below}`, message };
}

/** Features that were rejected before the store was called. */
export const toWireFailures = (items: readonly WriteItem[]): readonly WireFailure[] =>
  items.flatMap(({ index, id, failure }) => (failure ? [toWireFailure({ index, id: id ?? nilId, ...failure })] : []));

export interface WriteResponse {
  readonly status: 200 | 201;
  /** JSON of a `WireResult`. */
  readonly body: string;
  readonly version: string;
  readonly replayed: boolean;
}

/** Throws the problem of a failed outcome. */
export function toWriteResponse(method: string, outcome: WriteOutcome): WriteResponse {
  if (outcome.kind === "no-map") throw problem("map-not-found", {});
  if (outcome.kind === "other-version") throw problem("precondition-failed", {});
  if (outcome.kind === "key-used-otherwise") throw problem("idempotency-key-used", {});
  if (outcome.kind === "key-in-flight") throw problem("idempotency-in-flight", {}, { headers: { "retry-after": "1" } });
  const failed = outcome.failed.map(toWireFailure);
  if (outcome.kind === "refused") throw problem("refused", { count: failed.length }, { failed });
  const { text, deleted, version, replayed, droppedField } = outcome;
  const { json, count, created } = text ?? serializeWrittenFeatures(outcome.success);
  if (count === 0 && failed.length > 0 && method !== "DELETE") throw problem("all-failed", {}, { failed });
  const allCreated = count > 0 && failed.length === 0 && created === count;
  const others = [
    method === "PUT" ? `,"deleted":${deleted}` : "",
    droppedField === undefined ? "" : `,"droppedRemoteField":${JSON.stringify(droppedField)}`,
  ].join("");
  return {
    status: method === "POST" && allCreated ? 201 : 200,
    body: `{"success":${json},"failed":${JSON.stringify(failed)}${others}}`,
    version,
    replayed,
  };
}
