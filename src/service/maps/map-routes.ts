/** Routes for maps themselves, an extension of the Map Features Service Interface. */
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from "fastify";
import { type Static, Type } from "typebox";
import { pageSize, type WireMap, type WireMaps } from "../../remote/wire.js";
import { ownerDisplayName } from "../auth/accounts.js";
import { getBearer, getRequestMap } from "../auth/api-authorization.js";
import { IdSchema, MapParams, PageQuery } from "../features/schemas.js";
import { problem } from "../http/problems.js";
import { baseUrl } from "../http/public-url.js";
import { routeSchema } from "../http/route-schema.js";
import type { MapListRequest, Store, StoredMap } from "../store/contract.js";
import { type AuditContext, changeMap, createMap, deleteMap } from "./map-changes.js";
import { decodeMapCursor, encodeMapCursor } from "./map-cursor.js";

export interface MapRouteOptions {
  readonly store: Store;
  readonly publicUrl: string | null;
  readonly now: () => number;
  readonly mapsPerAccount: number;
  /** Hooks that authorize readers and owners of a map. */
  readonly readers: readonly onRequestAsyncHookHandler[];
  readonly owners: readonly onRequestAsyncHookHandler[];
}

/**
 * A character class; JSON Schema advises against lookaround (Core, 6.4). Includes both sets of control characters, as
 * some terminals also interpret C1 as commands when operators list maps.
 */
const controlCharacters = "\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff";
export const MapName = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: `^[^ ${controlCharacters}]([^${controlCharacters}]*[^ ${controlCharacters}])?$`,
  description: "Without spaces around it and without control characters",
});
const NewMap = Type.Object({
  name: MapName,
  private: Type.Optional(
    Type.Boolean({ default: true, description: "true: only the owner can read the map; false: every account can" }),
  ),
});
const MapChange = Type.Object(
  { name: Type.Optional(MapName), private: Type.Optional(Type.Boolean()) },
  { minProperties: 1 },
);
const MapQuery = Type.Object({
  page: PageQuery.properties.page,
  per_page: PageQuery.properties.per_page,
  after: Type.Optional(
    Type.String({
      maxLength: 2000,
      description: "Continues after an earlier page, from its Link header; not with `page`",
    }),
  ),
  readable: Type.Optional(Type.Boolean({ default: false, description: "Include public maps of other accounts" })),
});
const MapBody = Type.Object(
  {
    id: IdSchema,
    name: Type.String(),
    private: Type.Boolean(),
    owner: Type.Object({
      name: Type.String({ description: "The owner's display name, or a part of the account's id" }),
      email: Type.Optional(Type.String({ description: "Only for the account's own maps" })),
    }),
    features: Type.Integer({ minimum: 0 }),
    revision: Type.Integer({ minimum: 0, description: "Incremented by each write that changes something" }),
    created: Type.String({ format: "date-time" }),
  },
  { title: "Map" },
);
const MapList = Type.Object({ maps: Type.Array(MapBody) });

type MapDetails = Omit<StoredMap, "version">;

const toWireMap = (map: MapDetails, reader: string): WireMap => ({
  id: map.id,
  name: map.name,
  private: map.private,
  owner: { name: ownerDisplayName(map), ...(map.owner === reader ? { email: map.ownerEmail } : {}) },
  features: map.features,
  revision: map.revision,
  created: new Date(map.created).toISOString(),
});

function decodeMapStart(
  { page, after }: Static<typeof MapQuery>,
  size: number,
): Pick<MapListRequest, "skip" | "after"> {
  if (after === undefined) return { skip: Math.min(((page ?? 1) - 1) * size, Number.MAX_SAFE_INTEGER) };
  if (page !== undefined) throw problem("bad-query", { reason: "page and after exclude each other" });
  const position = decodeMapCursor(after);
  if (position === null) throw problem("bad-query", { reason: "after is not a value from a Link header" });
  return { after: position };
}

export function registerMapRoutes(scope: FastifyInstance, options: MapRouteOptions): void {
  const { store, publicUrl, now, readers, owners, mapsPerAccount } = options;
  const auditContext = (request: FastifyRequest): AuditContext => ({
    account: getBearer(request).account,
    now: now(),
    address: request.ip,
  });

  scope.get<{ Querystring: Static<typeof MapQuery> }>("/v1/maps", {
    onRequest: [...readers],
    schema: routeSchema({
      id: "getMaps",
      summary: "The account's maps, by name",
      description: "Paginated like features. `Link: rel=next` is the next page.",
      querystring: MapQuery,
      responses: { 200: { schema: MapList } },
      problems: [400, 401, 429],
      extension: true,
    }),
    handler: async (request, reply): Promise<WireMaps> => {
      const { readable = false, per_page: size = pageSize.default } = request.query;
      const { account } = getBearer(request);
      const found = await store.maps({
        account,
        scope: readable ? "readable" : "own",
        size: size + 1,
        ...decodeMapStart(request.query, size),
      });
      const maps = found.slice(0, size);
      if (found.length > size) {
        const query = new URLSearchParams({ after: encodeMapCursor(maps.at(-1)!), per_page: String(size) });
        if (readable) query.set("readable", "true");
        reply.header("link", `<${baseUrl(request, publicUrl)}/api/v1/maps?${query}>; rel="next"`);
      }
      return { maps: maps.map((map) => toWireMap(map, account)) };
    },
  });

  scope.post<{ Body: Static<typeof NewMap> }>("/v1/maps", {
    onRequest: [...readers],
    schema: routeSchema({
      id: "createMap",
      summary: "Create a map",
      body: NewMap,
      responses: { 201: { schema: MapBody } },
      problems: [400, 401, 413, 415, 422, 429],
      extension: true,
    }),
    handler: async (request, reply) => {
      const { name, private: hidden = true } = request.body;
      const { account } = getBearer(request);
      const id = await createMap(store, { name, private: hidden }, auditContext(request), mapsPerAccount);
      if (id === null) throw problem("too-many-maps", { limit: mapsPerAccount });
      const map = await store.map(id);
      if (map === null) throw problem("map-not-found", {});
      reply.code(201).header("location", `${baseUrl(request, publicUrl)}/api/v1/maps/${id}`);
      return toWireMap(map, account);
    },
  });

  scope.get("/v1/maps/:mapId", {
    onRequest: [...readers],
    schema: routeSchema({
      id: "getMap",
      summary: "One map",
      params: MapParams,
      responses: { 200: { schema: MapBody } },
      problems: [401, 404, 429],
      extension: true,
    }),
    handler: async (request) => toWireMap(getRequestMap(request), getBearer(request).account),
  });

  scope.patch<{ Body: Static<typeof MapChange> }>("/v1/maps/:mapId", {
    onRequest: [...owners],
    schema: routeSchema({
      id: "changeMap",
      summary: "Rename a map, or make it private or public",
      params: MapParams,
      body: MapChange,
      responses: { 200: { schema: MapBody } },
      problems: [400, 401, 403, 404, 413, 415, 422, 429],
      extension: true,
    }),
    handler: async (request) => {
      const { name, private: hidden } = request.body;
      const change = { ...(name !== undefined && { name }), ...(hidden !== undefined && { private: hidden }) };
      const changed = await changeMap(store, getRequestMap(request), change, auditContext(request));
      if (!changed) throw problem("map-not-found", {});
      return toWireMap(changed, getBearer(request).account);
    },
  });

  scope.delete("/v1/maps/:mapId", {
    onRequest: [...owners],
    schema: routeSchema({
      id: "deleteMap",
      summary: "Delete a map with all its features; returns the deleted map",
      params: MapParams,
      responses: { 200: { schema: MapBody } },
      problems: [401, 403, 404, 429],
      extension: true,
    }),
    handler: async (request) => {
      const map = getRequestMap(request);
      if (!(await deleteMap(store, map, auditContext(request)))) throw problem("map-not-found", {});
      return toWireMap(map, getBearer(request).account);
    },
  });
}
