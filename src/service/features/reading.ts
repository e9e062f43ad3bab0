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
import { type PageBodies, releaseAfter, sendPage } from "./page-bodies.js";
import { type PageLoops, placeFollowed } from "./page-loops.js";
import * as schemas from "./schemas.js";

export interface ReadingRoutes {
  readonly bodies: PageBodies;
  readonly loops: PageLoops;
  readonly publicUrl: string | null;
  /** Hooks for who reads. */
  readonly admit: readonly onRequestAsyncHookHandler[];
}

type Query = Static<typeof schemas.PageQuery>;

export function readingRoutes(scope: FastifyInstance, { bodies, loops, publicUrl, admit }: ReadingRoutes): void {
  scope.get<{ Querystring: Query }>("/v1/maps/:mapId/features", {
    onRequest: [...admit],
    schema: operation({
      id: "getFeatures",
      summary: "Retrieve features",
      description:
        "Pages are in a fixed order of creation. The next page by number begins where the one before ended, if that was read a moment ago. `Link: rel=next` leads on; it costs the same at any depth.",
      params: schemas.MapParams,
      querystring: schemas.PageQuery,
      headers: schemas.ReadHeaders,
      answers: { 200: { type: "application/geo+json", schema: schemas.Page }, 304: {} },
      problems: [400, 401, 404, 412, 429, 503],
    }),
    handler: async (request, reply) => {
      const { id, version, features } = mapOf(request);
      const { method, headers, query } = request;
      const { page: number = 1, per_page: size = pageSize.default, after } = checked(query);
      reply.headers({ "cache-control": "private, no-cache", vary: "Accept-Encoding" });
      checkVersion(allowedVersions(headers["if-match"]), version);
      const inLoop = after === undefined ? await loops.find(id, size, number, bearerOf(request)) : null;
      const question = inLoop?.question ?? { map: id, size, after: after! };
      const keep = async (facts: PageFacts, follows: number | null) => {
        if (inLoop && method === "GET") await loops.keep(inLoop, facts, follows);
      };
      const unchanged = (follows: number | null) => reply.code(304).header("etag", entityTag(version, follows)).send();

      if (isKnown(headers["if-none-match"], version)) {
        // There is nothing behind it, or it is asked for by its place.
        if (!inLoop || (number === 1 && features < size)) return unchanged(null);
        const facts = await bodies.measure(question);
        const follows = facts && placeFollowed(inLoop, facts, facts.version);
        if (facts?.version === version && isKnown(headers["if-none-match"], version, follows)) {
          await keep(facts, follows);
          return unchanged(follows);
        }
      }
      const page = await bodies.read(question, bearerOf(request).account, method, () => tail);
      if (!page) throw problem("map-not-found", {});
      releaseAfter(reply, page);
      const follows = inLoop && placeFollowed(inLoop, page, page.measured);
      await keep(page, follows);
      reply.header("etag", entityTag(page.version, follows));
      if (page.more)
        reply.header("link", nextLink(`${baseUrl(request, publicUrl)}/api/v1/maps/${id}/features`, page, question));
      reply.type("application/geo+json");
      return sendPage(reply, page);
    },
  });
}

/** No map has so many pages; their features are still counted by safe integers. */
const lastPage = 2 ** 40;

function checked({ page, per_page, after }: Query): Query {
  if (page !== undefined && after !== undefined)
    throw problem("bad-query", { reason: "page and after exclude each other" });
  return {
    ...(per_page !== undefined && { per_page }),
    ...(page !== undefined && { page: Math.min(page, lastPage) }),
    ...(after !== undefined && { after: Math.min(after, Number.MAX_SAFE_INTEGER) }),
  };
}

/** RFC 8288. By the place of the last feature: no feature is missed or seen twice where others come and go. */
const nextLink = (address: string, { last }: PageFacts, { size }: PageQuestion): string =>
  `<${address}?after=${last}&per_page=${size}>; rel="next"`;

const tail = Buffer.from("]}");
