/** The web pages as a Fastify plugin: maps requests to page handlers, and their results to responses. */
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
  /** Marks the connection of a signed-in user (`ConnectionLimiter`). */
  readonly markSignedIn: (request: FastifyRequest, account: string) => void;
}

/** Maximum bytes of a form; the longest field has some hundred characters. */
const maxFormBytes = 64 * 1024;

const rootRoute: PageRoute = {
  method: "GET",
  url: "/",
  isPublic: true,
  handle: async ({ user }) => redirectTo(user === null ? "/sign-in" : "/maps"),
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
  /** The Fastify plugin. */
  register(app: FastifyInstance): Promise<void>;
  /** Whether a 404 response to this request is an HTML page. */
  wantsPage(request: FastifyRequest): boolean;
  renderNotFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

/** Loads the assets once. */
export function createPages({ store, bodies, settings, publicUrl, now, markSignedIn }: PagesOptions): PagesPlugin {
  const sessions = { idle: settings.sessionIdleSeconds * 1000, absolute: settings.sessionSeconds * 1000 };
  const attempts = new AttemptLimiter(store, settings, now);
  const assets = new PageAssets();
  const { mapsPerAccount } = settings;
  const services: PageServices = { store, bodies, assets, now, publicUrl, sessions, attempts, mapsPerAccount };
  return {
    register: (app) => registerPages(app, services, settings, markSignedIn),
    wantsPage: ({ method, headers }) => /^(GET|HEAD)$/.test(method) && /\btext\/html\b/.test(headers.accept ?? ""),
    async renderNotFound(request, reply) {
      const context = new HttpPageContext(request, services);
      await context.restoreSession();
      return sendPageResult(reply.headers(securityHeaders), context, renderErrorPage(pageNotFound(), request.id));
    },
  };
}

async function registerPages(
  app: FastifyInstance,
  services: PageServices,
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
  /** Keeps the signed-in user for error pages. */
  const contexts = new WeakMap<FastifyRequest, HttpPageContext>();
  app.setErrorHandler<FastifyError | PageError>((error, request, reply) => {
    const pageError = error instanceof PageError ? error : pageErrorForStatus(statusOfError(error));
    if (pageError.status >= 500) request.log.error({ err: error }, pageError.title);
    return sendPageResult(
      reply,
      contexts.get(request) ?? new HttpPageContext(request, services),
      renderErrorPage(pageError, request.id),
    );
  });
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.url,
      handler: async (request, reply) => {
        const context = new HttpPageContext(request, services);
        contexts.set(request, context);
        await context.restoreSession();
        if (context.user) markSignedIn(request, context.user.account);
        return sendPageResult(reply, context, await runRoute(route, context));
      },
    });
  }
  services.assets.serve(app);
}

/** An unavailable store is recognized by its error code. */
const statusOfError = ({ statusCode, code }: FastifyError): number =>
  statusCode ?? (code === "store-unavailable" ? 503 : 500);

async function runRoute(route: PageRoute, context: HttpPageContext): Promise<PageResult> {
  if (route.method === "POST" && !context.isOwnForm()) throw csrfRejected();
  if (route.isPublic) return route.handle(context);
  const { user } = context;
  if (user !== null) return route.handle(Object.assign(context, { user }));
  if (route.method === "GET") return redirectTo(signInAddress(context.path));
  return redirectTo("/sign-in", "You were signed out, and nothing was changed. Sign in and try again.");
}

function sendPageResult(reply: FastifyReply, context: HttpPageContext, result: PageResult): FastifyReply {
  reply.header("cache-control", "no-store");
  // A notice is removed after it was shown; a data response shows none.
  const clearedNotice = context.notice === null ? undefined : null;
  if (result.kind === "data") {
    releaseOnClose(reply, result.page);
    return sendPage(reply.type("application/json"), result.page);
  }
  if (result.kind === "redirect") {
    return reply
      .header("set-cookie", context.cookies(result.notice))
      .redirect(basePath(context.services.publicUrl) + result.to, 303);
  }
  const text = renderLayout(result, context);
  if (result.retryAfter !== undefined) reply.header("retry-after", String(result.retryAfter));
  reply.header("set-cookie", context.cookies(clearedNotice));
  return reply
    .status(result.status ?? 200)
    .type("text/html; charset=utf-8")
    .send(text);
}
