/** The service as a function of its store: everything but listening, so that tests need no port. */
import { tmpdir } from "node:os";
import type { SecureContextOptions } from "node:tls";
import fastify, { type FastifyInstance, type FastifyServerOptions, LogController } from "fastify";
import { registerApi } from "./api.js";
import { registerTokenEndpoint, rejectOtherMethods } from "./auth/token-endpoint.js";
import { PageBodyReader } from "./features/page-bodies.js";
import { respondToClientError } from "./http/client-errors.js";
import { installErrorHandler, sendProblem, toProblem } from "./http/error-handler.js";
import { registerOpenApi, serveOpenApi } from "./http/openapi.js";
import { serializePipelinedRequests } from "./http/pipelining.js";
import { basePath, stripBasePath, stripTrailingSlash } from "./http/public-url.js";
import { trackRouteMethods } from "./http/route-methods.js";
import { hstsHeaders } from "./http/strict-transport.js";
import { newUuidV7 } from "./identifiers/uuid-v7.js";
import { type Budgets, createBudgets } from "./limits/byte-budget.js";
import { ConnectionLimiter } from "./limits/connection-limiter.js";
import { installSendTimeout } from "./limits/send-timeout.js";
import { createPages } from "./pages/index.js";
import { defaultSettings, type Settings } from "./settings.js";
import type { Store } from "./store/contract.js";

export interface AppDependencies {
  /** Called for each connection that is closed for want of room. */
  readonly onConnectionClosed?: () => void;
  readonly store: Store;
  readonly settings?: Partial<Settings>;
  /** Where pages over 1 MiB are while they are read; the system's folder for temporary files by default. */
  readonly spoolFolder?: string;
  /** Of memory and of the spool folder, where somebody else looks at them, too. */
  readonly budgets?: Budgets;
  /**
   * As clients see it, behind a proxy: `https://maps.example.org`, or `https://example.org/maps` where the proxy passes
   * paths on as they come. Else what each request says.
   */
  readonly publicUrl?: string | null;
  /** Whose `X-Forwarded-*` headers are believed. */
  readonly trustProxy?: FastifyServerOptions["trustProxy"];
  readonly tls?: SecureContextOptions | null;
  readonly logger?: FastifyServerOptions["logger"];
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export function buildApp(dependencies: AppDependencies): FastifyInstance {
  const { store, now = Date.now } = dependencies;
  const publicUrl = dependencies.publicUrl?.replace(/\/+$/, "") ?? null;
  const settings = { ...defaultSettings, ...dependencies.settings };
  const budgets = dependencies.budgets ?? createBudgets(settings);
  const bodies = new PageBodyReader({ store, folder: dependencies.spoolFolder ?? tmpdir(), ...budgets });
  const app = fastify(serverOptions(dependencies, settings, basePath(publicUrl))) as unknown as FastifyInstance;
  const notFound = trackRouteMethods(app);
  installErrorHandler(app);
  // Each part takes the bodies that it understands, and no other.
  app.removeAllContentTypeParsers();
  const guard = new ConnectionLimiter(settings);
  if (dependencies.onConnectionClosed) guard.onClosed = dependencies.onConnectionClosed;
  serializePipelinedRequests(app.server);
  guard.watch(app);
  const markSignedIn: ConnectionLimiter["markSignedIn"] = (request, account) => guard.markSignedIn(request, account);
  const pages = createPages({ store, bodies, settings, publicUrl, now, markSignedIn });
  app.setNotFoundHandler((request, reply) => {
    const refused = rejectOtherMethods(request, reply);
    if (refused) return refused;
    const found = notFound(request);
    if (found.statusCode === 404 && pages.wantsPage(request)) return pages.renderNotFound(request, reply);
    throw found;
  });
  app.decorateRequest("bearer", null);
  app.decorateRequest("map", null);
  app.decorateRequest("bytes", null);
  app.decorateRequest("response", null);
  // Before the body arrives, which may take long.
  app.addHook("preParsing", async (request, _reply, payload) => {
    if (request.bearer) guard.markSignedIn(request, request.bearer.account);
    return payload;
  });
  installSendTimeout(app, settings.sendSeconds);
  const transport = hstsHeaders(publicUrl);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({ "x-request-id": request.id, "x-content-type-options": "nosniff", ...transport(request) });
  });
  registerOpenApi(app, { publicUrl });
  app.register(registerTokenEndpoint, { store, settings, publicUrl, now });
  const { memory } = budgets;
  app.register(registerApi, { prefix: "/api", store, settings, bodies, memory, publicUrl, now, notFound });
  app.register(async (scope) => serveOpenApi(scope));
  app.register(pages.register);
  return app;
}

function serverOptions(dependencies: AppDependencies, settings: Settings, path: string): FastifyServerOptions {
  const { logger = false, trustProxy = false, tls } = dependencies;
  const limits = {
    maxHeaderSize: settings.headerBytes,
    headersTimeout: settings.headerSeconds * 1000,
    connectionsCheckingInterval: Math.min(5000, settings.headerSeconds * 500),
  };
  const options = {
    logger,
    trustProxy,
    requestTimeout: settings.requestSeconds * 1000,
    keepAliveTimeout: settings.idleSeconds * 1000,
    bodyLimit: settings.bodyBytes,
    rewriteUrl: ({ url = "/" }: { readonly url?: string }) => stripTrailingSlash(path ? stripBasePath(url, path) : url),
    genReqId: () => newUuidV7(),
    requestIdHeader: false as const,
    // `installRequestLog` writes one line instead of two.
    logController: new LogController({ disableRequestLogging: true }),
    // What comes on a connection that was open is answered, too.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 100 },
    frameworkErrors: ((error, request, reply) =>
      sendProblem(reply, toProblem(error, request))) satisfies FastifyServerOptions["frameworkErrors"],
    clientErrorHandler: respondToClientError,
    ...(tls ? { https: { ...limits, ...tls, handshakeTimeout: limits.headersTimeout } } : { http: limits }),
  };
  return options;
}
