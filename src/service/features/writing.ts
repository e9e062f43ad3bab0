/** POST, PUT, PATCH and DELETE of features (Map Features Service Interface, 4.3 – 4.6). */
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from "fastify";
import type { TSchema } from "typebox";
import { entityTag } from "../conditions.js";
import { operation } from "../operation.js";
import { problem } from "../problems.js";
import type { FeatureStore, WriteKind, WriteOutcome, WriteRequest } from "../store/contract.js";
import { isUuid } from "../uuid.js";
import { itemsOf } from "./items.js";
import { answerOf, failuresOf } from "./results.js";
import * as schemas from "./schemas.js";
import { checkPrecondition, isStrict, writeRequest } from "./write-request.js";

export interface WritingRoutes {
  readonly store: Pick<FeatureStore, "write">;
  readonly now: () => number;
  /** Hooks for who writes. */
  readonly admit: readonly onRequestAsyncHookHandler[];
}

interface Collection {
  readonly remoteField?: string | null;
  readonly nulls?: WriteRequest["nulls"];
  readonly features: readonly unknown[];
}

interface Write {
  readonly id: string;
  readonly summary: string;
  readonly feature: TSchema;
  readonly kind: (remoteField: string | null) => WriteKind;
}
const writes: Readonly<Record<"POST" | "PUT" | "PATCH" | "DELETE", Write>> = {
  POST: {
    id: "createFeatures",
    summary: "Create features; where remoteField is named, update those that are there",
    feature: schemas.Feature,
    kind: (remoteField) => (remoteField === null ? "create" : "upsert"),
  },
  PUT: {
    id: "synchroniseFeatures",
    summary: "Full synchronisation: what is not sent is deleted",
    feature: schemas.Feature,
    kind: () => "synchronise",
  },
  PATCH: {
    id: "updateFeatures",
    summary: "Partial update: properties are merged one level deep, a geometry is replaced",
    feature: schemas.FeatureChange,
    kind: () => "update",
  },
  DELETE: {
    id: "deleteFeatures",
    summary: "Delete features by id, or by remote field",
    feature: schemas.FeatureName,
    kind: () => "delete",
  },
};
const problems = [400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503];
const done = { schema: schemas.OperationResult };

const preValidation = async (request: FastifyRequest) => checkPrecondition(request);

export function writingRoutes(scope: FastifyInstance, { store, now, admit }: WritingRoutes): void {
  const write = async (
    request: FastifyRequest,
    kind: WriteKind,
    features: readonly unknown[],
    remoteField: string | null,
    nulls?: WriteRequest["nulls"],
  ) => {
    const { items, unnamed } = await itemsOf(kind, features, remoteField);
    if (kind === "synchronise" && unnamed.length > 0) {
      const key = remoteField === null ? "id" : `property ${JSON.stringify(remoteField)}`;
      throw problem(
        "keys-unusable",
        { count: unnamed.length, key },
        { failed: failuresOf(unnamed.map((i) => items[i]!)) },
      );
    }
    return store.write(writeRequest(request, { kind, remoteField, nulls, items, now: now() }));
  };

  for (const [method, { id, summary, feature, kind }] of Object.entries(writes)) {
    scope.route<{ Body: Collection }>({
      method,
      url: "/v1/maps/:mapId/features",
      onRequest: [...admit],
      preValidation,
      schema: operation({
        id,
        summary,
        params: schemas.MapParams,
        headers: method === "POST" || method === "PATCH" ? schemas.WriteOnceHeaders : schemas.WriteHeaders,
        body: schemas.collection(feature),
        answers: method === "POST" ? { 200: done, 201: done } : { 200: done },
        problems,
      }),
      handler: async (request, reply) => {
        const { remoteField = null, features, nulls } = request.body;
        return send(request, reply, await write(request, kind(remoteField), features, remoteField, nulls));
      },
    });
  }

  scope.patch<{ Body: Record<string, unknown>; Params: { featureId: string } }>("/v1/maps/:mapId/features/:featureId", {
    onRequest: [...admit],
    preValidation,
    schema: operation({
      id: "updateFeature",
      summary: "Partial update of one feature",
      params: schemas.FeatureParams,
      headers: schemas.WriteOnceHeaders,
      body: schemas.OneFeatureChange,
      answers: { 200: done },
      problems,
    }),
    handler: async (request, reply) => {
      const { featureId } = request.params;
      if (!isUuid(featureId)) throw problem("feature-not-found", {});
      const { id = featureId, nulls } = request.body;
      if (nulls !== undefined && nulls !== "remove" && nulls !== "set")
        throw problem("invalid-body", { reason: 'nulls must be "remove" or "set"' });
      if (typeof id !== "string" || id.toLowerCase() !== featureId.toLowerCase()) {
        throw problem("invalid-body", { reason: "its id is not that of the address" });
      }
      const outcome = await write(request, "update", [{ ...request.body, id }], null, nulls);
      if (isMissing(outcome)) throw problem("feature-not-found", {});
      return send(request, reply, outcome);
    },
  });
}

/** Of a PATCH of one, whose id is a UUID: a store finds nothing else wrong with an id. */
const isMissing = (outcome: WriteOutcome): boolean =>
  (outcome.kind === "done" || outcome.kind === "refused") && outcome.failed[0]?.path === "id";

function send(request: FastifyRequest, reply: FastifyReply, outcome: WriteOutcome): FastifyReply {
  const { status, body, version, replayed } = answerOf(request.method, outcome);
  if (isStrict(request)) reply.header("preference-applied", "handling=strict");
  if (replayed) reply.header("idempotency-replayed", "true");
  // What a PUT sent is not what is kept, as features get ids: it may not be answered with a tag (RFC 9110, 9.3.4).
  if (request.method !== "PUT") reply.header("etag", entityTag(version));
  return reply.code(status).type("application/json; charset=utf-8").send(body);
}
