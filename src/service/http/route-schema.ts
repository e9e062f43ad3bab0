/** Builds the schema of a route for the validator and for /openapi.json. */
import type {} from "@fastify/swagger";
import type { FastifySchema } from "fastify";
import type { TSchema } from "typebox";
import { ProblemBody } from "../features/schemas.js";

export interface RouteDescription {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: TSchema;
  readonly querystring?: TSchema;
  readonly headers?: TSchema;
  /** JSON schema; `application/geo+json` is accepted, too. */
  readonly body?: TSchema;
  readonly responses: Readonly<Record<number, { readonly type?: string; readonly schema?: TSchema }>>;
  readonly problems: readonly number[];
  /** Whether the route extends the Map Features Service Interface. */
  readonly extension?: boolean;
}

const jsonContent = (schema: TSchema, types: readonly string[]) => ({
  content: Object.fromEntries(types.map((type) => [type, { schema }])),
});

const statusDescriptions: Readonly<Record<number, string>> = {
  200: "Done",
  201: "All features created",
  304: "Not modified",
  400: "Malformed request",
  401: "No valid access token",
  403: "Not the owner of the map",
  404: "Does not exist, or is private and belongs to another account",
  409: "A request with this Idempotency-Key is in progress",
  412: "The version of the map does not match",
  413: "Too large",
  415: "Not JSON",
  422: "Invalid content; nothing was changed",
  429: "Too many requests",
  503: "Temporarily unavailable",
};

export function routeSchema(of: RouteDescription): FastifySchema {
  const { id, summary, description, params, querystring, headers, body, responses, problems, extension } = of;
  const good = Object.entries(responses).map(([status, { type = "application/json", schema }]) => [
    status,
    { description: statusDescriptions[Number(status)], ...(schema ? jsonContent(schema, [type]) : { type: "null" }) },
  ]);
  const bad = problems.map((status) => [
    status,
    { description: statusDescriptions[status], ...jsonContent(ProblemBody, ["application/problem+json"]) },
  ]);
  return {
    operationId: id,
    summary,
    ...(description && { description }),
    tags: [extension ? "extension" : "features"],
    security: [{ bearer: [] }],
    ...(extension && { "x-extension": true }),
    ...(params && { params }),
    ...(querystring && { querystring }),
    ...(headers && { headers }),
    ...(body && { body: jsonContent(body, ["application/json", "application/geo+json"]) }),
    response: Object.fromEntries([...good, ...bad]),
  };
}
