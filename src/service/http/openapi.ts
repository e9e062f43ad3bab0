/** Serves /openapi.json (OpenAPI 3.1), generated from the route schemas that validate requests. */
import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";

interface OpenApiOptions {
  readonly publicUrl: string | null;
}

const description = [
  "Stores maps of GeoJSON features. Clients read, create, synchronize, update and delete the features of a map.",
  "Operations tagged `extension` extend the Map Features Service Interface.",
].join(" ");

/** Must be called before routes are added. */
export function registerOpenApi(app: FastifyInstance, { publicUrl }: OpenApiOptions): void {
  app.register(swagger, {
    hideUntagged: true,
    openapi: {
      openapi: "3.1.0",
      info: { title: "Map Features Service", version: "1", description },
      servers: [{ url: publicUrl ?? "/" }],
      tags: [
        { name: "authentication", description: "Access tokens (RFC 6749, RFC 7009)" },
        { name: "features", description: "The features of a map" },
        { name: "extension", description: "Maps themselves; not part of the Map Features Service Interface" },
      ],
      components: {
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer", description: "An access token from /token" },
          client: { type: "http", scheme: "basic", description: "Client id and secret" },
        },
      },
    },
  });
}

export function serveOpenApi(app: FastifyInstance): void {
  let text: string | undefined;
  app.get("/openapi.json", { schema: { hide: true } }, async (_request, reply) => {
    text ??= JSON.stringify(hoistTitledSchemas(app.swagger()));
    return reply.header("cache-control", "public, max-age=300").type("application/json").send(text);
  });
}

/** Moves schemas with a title to `components`, and references them. */
function hoistTitledSchemas(document: object): object {
  const schemas: Record<string, unknown> = {};
  const hoisted = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(hoisted);
    const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hoisted(member)]));
    const { title } = copy;
    if (typeof title !== "string" || !("type" in copy || "anyOf" in copy)) return copy;
    schemas[title] = copy;
    return { $ref: `#/components/schemas/${title}` };
  };
  const { components, ...rest } = hoisted(document) as { components: object };
  return { ...rest, components: { ...components, schemas } };
}
