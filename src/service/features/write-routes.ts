/** POST, PUT, PATCH and DELETE of features (Map Features Service Interface, 4.3 – 4.6). */
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from "fastify";
import type { TSchema } from "typebox";
import { formatEntityTag } from "../http/conditional-requests.js";
import { problem } from "../http/problems.js";
import { routeSchema } from "../http/route-schema.js";
import { isUuid } from "../identifiers/uuid.js";
import type { FeatureStore, WriteKind, WriteOutcome, WriteRequest } from "../store/contract.js";
import * as schemas from "./schemas.js";
import { toWriteItems } from "./write-items.js";
import { buildWriteRequest, checkWritePrecondition, isStrict } from "./write-request.js";
import { toWireFailures, toWriteResponse } from "./write-response.js";

export interface WriteRouteOptions {
  readonly store: Pick<FeatureStore, "write">;
  readonly now: () => number;
  /** Hooks that authorize writers. */
  readonly admit: readonly onRequestAsyncHookHandler[];
}

interface WriteBody {
  readonly remoteField?: string | null;
  readonly nulls?: WriteRequest["nulls"];
  readonly features: readonly unknown[];
}

interface WriteRoute {
  readonly id: string;
  readonly summary: string;
  readonly feature: TSchema;
  readonly kind: (remoteField: string | null) => WriteKind;
}
const writeRoutes: Readonly<Record<"POST" | "PUT" | "PATCH" | "DELETE", WriteRoute>> = {
  POST: {
    id: "createFeatures",
    summary: "Create features; with remoteField, update existing ones",
    feature: schemas.Feature,
    kind: (remoteField) => (remoteField === null ? "create" : "upsert"),
  },
  PUT: {
    id: "synchronizeFeatures",
    summary: "Full synchronization: deletes features that are not in the request",
    feature: schemas.Feature,
    kind: () => "synchronize",
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
    feature: schemas.FeatureSelector,
    kind: () => "delete",
  },
};
const writeProblems = [400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503];
const okResponse = { schema: schemas.OperationResult };

const preValidation = async (request: FastifyRequest) => checkWritePrecondition(request);

export function registerWriteRoutes(scope: FastifyInstance, { store, now, admit }: WriteRouteOptions): void {
  const write = async (
    request: FastifyRequest,
    kind: WriteKind,
    features: readonly unknown[],
    remoteField: string | null,
    nulls?: WriteRequest["nulls"],
  ) => {
    const { items, withoutId } = await toWriteItems(kind, features, remoteField);
    if (kind === "synchronize" && withoutId.length > 0) {
      const key = remoteField === null ? "id" : `property ${JSON.stringify(remoteField)}`;
      throw problem(
        "keys-unusable",
        { count: withoutId.length, key },
        { failed: toWireFailures(withoutId.map((i) => items[i]!)) },
      );
    }
    return store.write(buildWriteRequest(request, { kind, remoteField, nulls, items, now: now() }));
  };

  for (const [method, { id, summary, feature, kind }] of Object.entries(writeRoutes)) {
    scope.route<{ Body: WriteBody }>({
      method,
      url: "/v1/maps/:mapId/features",
      onRequest: [...admit],
      preValidation,
      schema: routeSchema({
        id,
        summary,
        params: schemas.MapParams,
        headers: method === "POST" || method === "PATCH" ? schemas.WriteOnceHeaders : schemas.WriteHeaders,
        body: schemas.collectionSchema(feature),
        responses: method === "POST" ? { 200: okResponse, 201: okResponse } : { 200: okResponse },
        problems: writeProblems,
      }),
      handler: async (request, reply) => {
        const { remoteField = null, features, nulls } = request.body;
        return sendWriteResponse(request, reply, await write(request, kind(remoteField), features, remoteField, nulls));
      },
    });
  }

  scope.patch<{ Body: Record<string, unknown>; Params: { featureId: string } }>("/v1/maps/:mapId/features/:featureId", {
    onRequest: [...admit],
    preValidation,
    schema: routeSchema({
      id: "updateFeature",
      summary: "Partial update of one feature",
      params: schemas.FeatureParams,
      headers: schemas.WriteOnceHeaders,
      body: schemas.SingleFeatureChange,
      responses: { 200: okResponse },
      problems: writeProblems,
    }),
    handler: async (request, reply) => {
      const { featureId } = request.params;
      if (!isUuid(featureId)) throw problem("feature-not-found", {});
      const { id = featureId, nulls } = request.body;
      if (nulls !== undefined && nulls !== "remove" && nulls !== "set")
        throw problem("invalid-body", { reason: 'nulls must be "remove" or "set"' });
      if (typeof id !== "string" || id.toLowerCase() !== featureId.toLowerCase()) {
        throw problem("invalid-body", { reason: "its id differs from the id in the path" });
      }
      const outcome = await write(request, "update", [{ ...request.body, id }], null, nulls);
      if (isFeatureMissing(outcome)) throw problem("feature-not-found", {});
      return sendWriteResponse(request, reply, outcome);
    },
  });
}

/**
 * Applies to a PATCH of a single feature with a valid UUID: the only id error that a store reports is a missing
 * feature.
 */
const isFeatureMissing = (outcome: WriteOutcome): boolean =>
  (outcome.kind === "done" || outcome.kind === "refused") && outcome.failed[0]?.path === "id";

function sendWriteResponse(request: FastifyRequest, reply: FastifyReply, outcome: WriteOutcome): FastifyReply {
  const { status, body, version, replayed } = toWriteResponse(request.method, outcome);
  if (isStrict(request)) reply.header("preference-applied", "handling=strict");
  if (replayed) reply.header("idempotency-replayed", "true");
  // The stored representation differs from what PUT sent, since features get ids; the response must not have an ETag
  // (RFC 9110, 9.3.4).
  if (request.method !== "PUT") reply.header("etag", formatEntityTag(version));
  return reply.code(status).type("application/json; charset=utf-8").send(body);
}
