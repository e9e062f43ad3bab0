/** What a write answers (Map Features Service Interface, 2.4 and 7). */
import { nilId, type WireFailure, type WireResult } from "../../remote/wire.js";
import { problem } from "../problems.js";
import type { NotWritten, WriteItem, WriteOutcome, Written } from "../store/contract.js";

const messages: Readonly<Record<Written["what"], string>> = {
  created: "Feature successfully created.",
  updated: "Feature successfully updated.",
  deleted: "Feature successfully deleted.",
};

/** `features[3].geometry.coordinates[1]` */
export function failureOf({ index, id, path, message }: NotWritten): WireFailure {
  const below = path === "" || path.startsWith("[") ? path : `.${path}`;
  return { id, path: `features[${index}]${below}`, message };
}

/** Features that were refused before a store was asked. */
export const failuresOf = (items: readonly WriteItem[]): readonly WireFailure[] =>
  items.flatMap(({ index, id, failure }) => (failure ? [failureOf({ index, id: id ?? nilId, ...failure })] : []));

export interface Answer {
  readonly status: 200 | 201;
  readonly body: WireResult;
  readonly revision: number;
  readonly replayed: boolean;
}

/** Throws the problem of an outcome that is none. */
export function answerOf(method: string, outcome: WriteOutcome): Answer {
  if (outcome.kind === "no-map") throw problem("map-not-found", {});
  if (outcome.kind === "other-revision") throw problem("precondition-failed", {});
  if (outcome.kind === "key-used-otherwise") throw problem("idempotency-key-used", {});
  if (outcome.kind === "key-in-flight") throw problem("idempotency-in-flight", {}, { headers: { "retry-after": "1" } });
  const failed = outcome.failed.map(failureOf);
  if (outcome.kind === "refused") throw problem("refused", { count: failed.length }, { failed });
  const { success, deleted, revision, replayed } = outcome;
  if (success.length === 0 && failed.length > 0 && method !== "DELETE") throw problem("all-failed", {}, { failed });
  const created = success.length > 0 && failed.length === 0 && success.every(({ what }) => what === "created");
  return {
    status: method === "POST" && created ? 201 : 200,
    body: {
      success: success.map(({ id, what }) => ({ id, message: messages[what] })),
      failed,
      ...(method === "PUT" && { deleted }),
    },
    revision,
    replayed,
  };
}
