/** GET of the features of a map (Map Features Service Interface, 4.2). */
import type { FastifyInstance, onRequestAsyncHookHandler } from "fastify";
import type { Static } from "typebox";
import { pageSize } from "../../remote/wire.js";
import { getBearer, getRequestMap } from "../auth/api-authorization.js";
import { checkIfMatch, formatEntityTag, matchesIfNoneMatch, parseIfMatch } from "../http/conditional-requests.js";
import { problem } from "../http/problems.js";
import { baseUrl } from "../http/public-url.js";
import { routeSchema } from "../http/route-schema.js";
import type { PageMetadata, PageRequest } from "../store/contract.js";
import { type PageBodyReader, releaseOnClose, sendPage } from "./page-bodies.js";
import { continuationPosition, type PaginationTracker } from "./pagination-tracker.js";
import * as schemas from "./schemas.js";

export interface ReadRouteOptions {
  readonly bodies: PageBodyReader;
  readonly pagination: PaginationTracker;
  readonly publicUrl: string | null;
  /** Hooks that authorize readers. */
  readonly admit: readonly onRequestAsyncHookHandler[];
}

type PageQueryParameters = Static<typeof schemas.PageQuery>;

export function registerReadRoutes(
  scope: FastifyInstance,
  { bodies, pagination, publicUrl, admit }: ReadRouteOptions,
): void {
  scope.get<{ Querystring: PageQueryParameters }>("/v1/maps/:mapId/features", {
    onRequest: [...admit],
    schema: routeSchema({
      id: "getFeatures",
      summary: "Retrieve features",
      description:
        "Features are ordered by creation. The next page by number starts where the previous one ended if that was read recently. `Link: rel=next` is the next page; it costs the same at any depth.",
      params: schemas.MapParams,
      querystring: schemas.PageQuery,
      headers: schemas.ReadHeaders,
      responses: { 200: { type: "application/geo+json", schema: schemas.Page }, 304: {} },
      problems: [400, 401, 404, 412, 429, 503],
    }),
    handler: async (request, reply) => {
      const { id, version, features } = getRequestMap(request);
      const { method, headers, query } = request;
      const { page: number = 1, per_page: size = pageSize.default, after } = normalizePageQuery(query);
      reply.headers({ "cache-control": "private, no-cache", vary: "Accept-Encoding" });
      checkIfMatch(parseIfMatch(headers["if-match"]), version);
      const tracked = after === undefined ? await pagination.find(id, size, number, getBearer(request)) : null;
      const pageRequest = tracked?.request ?? { map: id, size, after: after! };
      const saveCursor = async (metadata: PageMetadata, startsAfter: number | null) => {
        if (tracked && method === "GET") await pagination.save(tracked, metadata, startsAfter);
      };
      const sendNotModified = (startsAfter: number | null) =>
        reply.code(304).header("etag", formatEntityTag(version, startsAfter)).send();

      if (matchesIfNoneMatch(headers["if-none-match"], version)) {
        // The page needs no cursor, or has a position already.
        if (!tracked || (number === 1 && features < size)) return sendNotModified(null);
        const metadata = await bodies.measure(pageRequest);
        const startsAfter = metadata && continuationPosition(tracked, metadata, metadata.version);
        if (metadata?.version === version && matchesIfNoneMatch(headers["if-none-match"], version, startsAfter)) {
          await saveCursor(metadata, startsAfter);
          return sendNotModified(startsAfter);
        }
      }
      const page = await bodies.read(pageRequest, getBearer(request).account, method, () => pageSuffix);
      if (!page) throw problem("map-not-found", {});
      releaseOnClose(reply, page);
      const startsAfter = tracked && continuationPosition(tracked, page, page.measuredVersion);
      await saveCursor(page, startsAfter);
      reply.header("etag", formatEntityTag(page.version, startsAfter));
      if (page.more)
        reply.header("link", nextLink(`${baseUrl(request, publicUrl)}/api/v1/maps/${id}/features`, page, pageRequest));
      reply.type("application/geo+json");
      return sendPage(reply, page);
    },
  });
}

/** More pages than any map has, and small enough that feature counts stay safe integers. */
const maxPageNumber = 2 ** 40;

function normalizePageQuery({ page, per_page, after }: PageQueryParameters): PageQueryParameters {
  if (page !== undefined && after !== undefined)
    throw problem("bad-query", { reason: "page and after exclude each other" });
  return {
    ...(per_page !== undefined && { per_page }),
    ...(page !== undefined && { page: Math.min(page, maxPageNumber) }),
    ...(after !== undefined && { after: Math.min(after, Number.MAX_SAFE_INTEGER) }),
  };
}

/**
 * RFC 8288. The link has the position of the last feature, so that concurrent changes neither skip nor repeat a
 * feature.
 */
const nextLink = (address: string, { last }: PageMetadata, { size }: PageRequest): string =>
  `<${address}?after=${last}&per_page=${size}>; rel="next"`;

const pageSuffix = Buffer.from("]}");
