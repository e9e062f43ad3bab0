/** Maps themselves: an extension of the Map Features Service Interface. */
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from "fastify";
import { type Static, Type } from "typebox";
import type { WireMap, WireMaps } from "../remote/wire.js";
import { baseUrl } from "./address.js";
import { bearerOf, mapOf } from "./auth/bearer.js";
import { Id, MapParams } from "./features/schemas.js";
import { changeMap, createMap, type Doing, deleteMap } from "./map-changes.js";
import { operation } from "./operation.js";
import { problem } from "./problems.js";
import type { Store, StoredMap } from "./store/contract.js";

export interface MapRoutes {
  readonly store: Store;
  readonly publicUrl: string | null;
  readonly now: () => number;
  /** Hooks for who reads a map and who changes it. */
  readonly readers: readonly onRequestAsyncHookHandler[];
  readonly owners: readonly onRequestAsyncHookHandler[];
}

/**
 * Inside a class of a pattern; JSON Schema advises against looking around (Core, 6.4). Both sets of control characters:
 * some terminals, where operators list maps, take the second (C1) for commands, too.
 */
const control = "\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff";
export const MapName = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: `^[^ ${control}]([^${control}]*[^ ${control}])?$`,
  description: "Without spaces around it and without control characters",
});
const NewMap = Type.Object({ name: MapName, private: Type.Optional(Type.Boolean({ default: false })) });
const MapChange = Type.Object(
  { name: Type.Optional(MapName), private: Type.Optional(Type.Boolean()) },
  { minProperties: 1 },
);
const MapQuery = Type.Object({
  readable: Type.Optional(
    Type.Boolean({ default: false, description: "Those of other accounts that are not private, too" }),
  ),
});
const MapBody = Type.Object(
  {
    id: Id,
    name: Type.String(),
    private: Type.Boolean(),
    owner: Type.Object({ email: Type.String() }),
    features: Type.Integer({ minimum: 0 }),
    revision: Type.Integer({ minimum: 0, description: "Grows with every write that changed something" }),
    created: Type.String({ format: "date-time" }),
  },
  { title: "Map" },
);
const MapList = Type.Object({ maps: Type.Array(MapBody) });

const toWire = ({ id, name, private: hidden, ownerEmail, features, revision, created }: StoredMap): WireMap => ({
  id,
  name,
  private: hidden,
  owner: { email: ownerEmail },
  features,
  revision,
  created: new Date(created).toISOString(),
});

export function mapRoutes(scope: FastifyInstance, options: MapRoutes): void {
  const { store, publicUrl, now, readers, owners } = options;
  const doing = (request: FastifyRequest): Doing => ({
    account: bearerOf(request).account,
    now: now(),
    address: request.ip,
  });

  scope.get<{ Querystring: Static<typeof MapQuery> }>("/v1/maps", {
    onRequest: [...readers],
    schema: operation({
      id: "getMaps",
      summary: "The account's maps, by name",
      querystring: MapQuery,
      answers: { 200: { schema: MapList } },
      problems: [400, 401, 429],
      extension: true,
    }),
    handler: async (request): Promise<WireMaps> => {
      const { account } = bearerOf(request);
      const maps = await store.maps({ account, readable: request.query.readable ?? false });
      return { maps: maps.map(toWire) };
    },
  });

  scope.post<{ Body: Static<typeof NewMap> }>("/v1/maps", {
    onRequest: [...readers],
    schema: operation({
      id: "createMap",
      summary: "Create a map",
      body: NewMap,
      answers: { 201: { schema: MapBody } },
      problems: [400, 401, 413, 415, 422, 429],
      extension: true,
    }),
    handler: async (request, reply) => {
      const { name, private: hidden = false } = request.body;
      const map = await createMap(store, { name, private: hidden }, doing(request));
      reply.code(201).header("location", `${baseUrl(request, publicUrl)}/api/v1/maps/${map.id}`);
      return toWire({ ...map, ownerEmail: bearerOf(request).email });
    },
  });

  scope.get("/v1/maps/:mapId", {
    onRequest: [...readers],
    schema: operation({
      id: "getMap",
      summary: "One map",
      params: MapParams,
      answers: { 200: { schema: MapBody } },
      problems: [401, 404, 429],
      extension: true,
    }),
    handler: async (request) => toWire(mapOf(request)),
  });

  scope.patch<{ Body: Static<typeof MapChange> }>("/v1/maps/:mapId", {
    onRequest: [...owners],
    schema: operation({
      id: "changeMap",
      summary: "Rename a map, or make it private or public",
      params: MapParams,
      body: MapChange,
      answers: { 200: { schema: MapBody } },
      problems: [400, 401, 403, 404, 413, 415, 422, 429],
      extension: true,
    }),
    handler: async (request) => {
      const { name, private: hidden } = request.body;
      const change = { ...(name !== undefined && { name }), ...(hidden !== undefined && { private: hidden }) };
      const changed = await changeMap(store, mapOf(request), change, doing(request));
      if (!changed) throw problem("map-not-found", {});
      return toWire(changed);
    },
  });

  scope.delete("/v1/maps/:mapId", {
    onRequest: [...owners],
    schema: operation({
      id: "deleteMap",
      summary: "Delete a map with all its features; answers with what it was",
      params: MapParams,
      answers: { 200: { schema: MapBody } },
      problems: [401, 403, 404, 429],
      extension: true,
    }),
    handler: async (request) => {
      const map = mapOf(request);
      if (!(await deleteMap(store, map, doing(request)))) throw problem("map-not-found", {});
      return toWire(map);
    },
  });
}
