/** GET of the features of a map (Map Features Service Interface, 4.2). */
import type { FastifyInstance, onRequestAsyncHookHandler } from "fastify";
import type { Static } from "typebox";
import { pageSize } from "../../remote/wire.js";
import { baseUrl } from "../address.js";
import { bearerOf, mapOf } from "../auth/bearer.js";
import { allowedVersions, checkVersion, entityTag, isKnown } from "../conditions.js";
import { operation } from "../operation.js";
import { problem } from "../problems.js";
import type { PageFacts, PageQuestion } from "../store/contract.js";
import { type Frame, type PageBodies, releaseAfter, sendPage } from "./page-bodies.js";
import * as schemas from "./schemas.js";

export interface ReadingRoutes {
  readonly bodies: PageBodies;
  readonly publicUrl: string | null;
  /** Hooks for who reads. */
  readonly admit: readonly onRequestAsyncHookHandler[];
}

type Query = Static<typeof schemas.PageQuery>;

export function readingRoutes(scope: FastifyInstance, { bodies, publicUrl, admit }: ReadingRoutes): void {
  scope.get<{ Querystring: Query }>("/v1/maps/:mapId/features", {
    onRequest: [...admit],
    schema: operation({
      id: "getFeatures",
      summary: "Retrieve features",
      description: "Pages are in a fixed order of creation. `Link: rel=next` leads on; it costs the same at any depth.",
      params: schemas.MapParams,
      querystring: schemas.PageQuery,
      headers: schemas.ReadHeaders,
      answers: { 200: { type: "application/geo+json", schema: schemas.Page }, 304: {} },
      problems: [400, 401, 404, 412, 429, 503],
    }),
    handler: async (request, reply) => {
      const { id, version } = mapOf(request);
      const question = pageQuestion(id, request.query);
      reply.headers({ "cache-control": "private, no-cache", vary: "Accept-Encoding" });
      checkVersion(allowedVersions(request.headers["if-match"]), version);
      if (isKnown(request.headers["if-none-match"], version)) {
        return reply.code(304).header("etag", entityTag(version)).send();
      }
      const page = await bodies.read(question, bearerOf(request).account, request.method, frame);
      if (!page) throw problem("map-not-found", {});
      releaseAfter(reply, page);
      reply.header("etag", entityTag(page.version));
      if (page.more)
        reply.header("link", nextLink(`${baseUrl(request, publicUrl)}/api/v1/maps/${id}/features`, page, question));
      reply.type("application/geo+json");
      return sendPage(reply, page);
    },
  });
}

/** No map has so many pages; their features are still counted by safe integers. */
const lastPage = 2 ** 40;

function pageQuestion(map: string, { page, per_page: size = pageSize.default, after }: Query): PageQuestion {
  if (after === undefined) return { map, size, page: Math.min(page ?? 1, lastPage) };
  if (page !== undefined) throw problem("bad-query", { reason: "page and after exclude each other" });
  return { map, size, after: Math.min(after, Number.MAX_SAFE_INTEGER) };
}

/** RFC 8288. By the place of the last feature: no feature is missed or seen twice where others come and go. */
const nextLink = (address: string, { last }: PageFacts, { size }: PageQuestion): string =>
  `<${address}?after=${last}&per_page=${size}>; rel="next"`;

const tail = Buffer.from("]}");
const frame: Frame = { head: Buffer.from('{"type":"FeatureCollection","features":['), tail: () => tail };
