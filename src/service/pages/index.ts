/** The pages as a plugin of the server: a request becomes a visit, and what a page answers becomes the reply. */
import compress from "@fastify/compress";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AttemptLimiter } from "../auth/attempt-limiter.js";
import { type PageBodyReader, releaseOnClose, sendPage } from "../features/page-bodies.js";
import { basePath } from "../http/public-url.js";
import type { Settings } from "../settings.js";
import type { Store } from "../store/contract.js";
import { credentialRoutes } from "./account/credentials.js";
import { profileRoutes } from "./account/profile.js";
import { setupRoutes } from "./account/setup.js";
import { signInAddress, signInRoutes } from "./account/sign-in.js";
import { PageAssets } from "./assets.js";
import { HttpPageContext } from "./http-page-context.js";
import { mapListRoutes } from "./maps/map-list.js";
import { mapPageRoutes } from "./maps/map-page.js";
import { mapSettingsRoutes } from "./maps/map-settings.js";
import { type PageResult, type PageRoute, type PageServices, redirectTo } from "./page-context.js";
import { csrfRejected, PageError, pageErrorForStatus, pageNotFound, renderErrorPage } from "./rendering/error-page.js";
import { renderLayout } from "./rendering/layout.js";
import { securityHeaders } from "./security-headers.js";

export interface PagesOptions {
  readonly store: Store;
  readonly bodies: PageBodyReader;
  readonly settings: Settings;
  readonly publicUrl: string | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Keeps the connection of a person who is signed in (`ConnectionLimiter`). */
  readonly markSignedIn: (request: FastifyRequest, account: string) => void;
}

/** Bytes of a form; the longest field has some hundred characters. */
const maxFormBytes = 64 * 1024;

const rootRoute: PageRoute = {
  method: "GET",
  url: "/",
  isPublic: true,
  handle: async ({ visitor }) => redirectTo(visitor === null ? "/sign-in" : "/maps"),
};

const routes: readonly PageRoute[] = [
  rootRoute,
  ...setupRoutes,
  ...signInRoutes,
  ...profileRoutes,
  ...credentialRoutes,
  ...mapListRoutes,
  ...mapSettingsRoutes,
  ...mapPageRoutes,
];

export interface PagesPlugin {
  /** The plugin. */
  register(app: FastifyInstance): Promise<void>;
  /** For where there is nothing: whether a page is to say so. */
  wantsPage(request: FastifyRequest): boolean;
  renderNotFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

/** Reads what pages load, once. */
export function createPages({ store, bodies, settings, publicUrl, now, markSignedIn }: PagesOptions): PagesPlugin {
  const sessions = { idle: settings.sessionIdleSeconds * 1000, absolute: settings.sessionSeconds * 1000 };
  const attempts = new AttemptLimiter(store, settings, now);
  const site: PageServices = { store, bodies, assets: new PageAssets(), now, publicUrl, sessions, attempts };
  return {
    register: (app) => registerPages(app, site, settings, markSignedIn),
    wantsPage: ({ method, headers }) => /^(GET|HEAD)$/.test(method) && /\btext\/html\b/.test(headers.accept ?? ""),
    async renderNotFound(request, reply) {
      const visit = new HttpPageContext(request, site);
      await visit.restoreSession();
      return sendPageResult(reply.headers(securityHeaders), visit, renderErrorPage(pageNotFound(), request.id));
    },
  };
}

async function registerPages(
  app: FastifyInstance,
  site: PageServices,
  settings: Settings,
  markSignedIn: PagesOptions["markSignedIn"],
): Promise<void> {
  app.addHook("onRequest", async (_request, reply) => void reply.headers(securityHeaders));
  await app.register(compress, { encodings: ["gzip"], threshold: settings.gzipBytes, globalDecompression: false });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: maxFormBytes },
    async (_request: FastifyRequest, text: string) => new URLSearchParams(text),
  );
  /** So that a page of a fault, too, knows who is signed in. */
  const visits = new WeakMap<FastifyRequest, HttpPageContext>();
  app.setErrorHandler<FastifyError | PageError>((error, request, reply) => {
    const fault = error instanceof PageError ? error : pageErrorForStatus(statusOfError(error));
    if (fault.status >= 500) request.log.error({ err: error }, fault.title);
    return sendPageResult(
      reply,
      visits.get(request) ?? new HttpPageContext(request, site),
      renderErrorPage(fault, request.id),
    );
  });
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.url,
      handler: async (request, reply) => {
        const visit = new HttpPageContext(request, site);
        visits.set(request, visit);
        await visit.restoreSession();
        if (visit.visitor) markSignedIn(request, visit.visitor.account);
        return sendPageResult(reply, visit, await runRoute(route, visit));
      },
    });
  }
  site.assets.serve(app);
}

/** A store that is away says so by its code. */
const statusOfError = ({ statusCode, code }: FastifyError): number =>
  statusCode ?? (code === "store-unavailable" ? 503 : 500);

async function runRoute(route: PageRoute, visit: HttpPageContext): Promise<PageResult> {
  if (route.method === "POST" && !visit.isOwnForm()) throw csrfRejected();
  if (route.isPublic) return route.handle(visit);
  const { visitor } = visit;
  if (visitor !== null) return route.handle(Object.assign(visit, { visitor }));
  if (route.method === "GET") return redirectTo(signInAddress(visit.path));
  return redirectTo("/sign-in", "You were signed out meanwhile. Nothing was changed: sign in, and do it once more.");
}

function sendPageResult(reply: FastifyReply, visit: HttpPageContext, answer: PageResult): FastifyReply {
  reply.header("cache-control", "no-store");
  // What was said once is taken away; data for a script says nothing.
  const said = visit.notice === null ? undefined : null;
  if (answer.kind === "data") {
    releaseOnClose(reply, answer.page);
    return sendPage(reply.type("application/json"), answer.page);
  }
  if (answer.kind === "redirect") {
    return reply
      .header("set-cookie", visit.cookies(answer.notice))
      .redirect(basePath(visit.site.publicUrl) + answer.to, 303);
  }
  const text = renderLayout(answer, visit);
  if (answer.retryAfter !== undefined) reply.header("retry-after", String(answer.retryAfter));
  reply.header("set-cookie", visit.cookies(said));
  return reply
    .status(answer.status ?? 200)
    .type("text/html; charset=utf-8")
    .send(text);
}
