/** Builds the service without listening on a port, so that tests can inject requests. */
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
import { checkExpectation, checkHost, routeExpectations } from "./http/request-headers.js";
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
  /** Called for each connection that is closed because a connection limit is reached. */
  readonly onConnectionClosed?: () => void;
  readonly store: Store;
  readonly settings?: Partial<Settings>;
  /** Folder for pages over 1 MiB while clients read them; the temporary folder of the system by default. */
  readonly spoolFolder?: string;
  /** Budgets of memory and of the spool folder; pass them in to monitor them from outside. */
  readonly budgets?: Budgets;
  /**
   * Public URL behind a proxy: `https://maps.example.org`, or `https://example.org/maps` if the proxy forwards paths
   * unchanged. If null, the URL is taken from each request.
   */
  readonly publicUrl?: string | null;
  /** Proxies whose `X-Forwarded-*` headers are trusted. */
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
  // Each plugin registers parsers only for the content types it accepts.
  app.removeAllContentTypeParsers();
  // Node.js drops headers beyond 2000 without an error, such as an If-Match or what a proxy appends; `headerBytes` limits
  // them.
  app.server.maxHeadersCount = 0;
  const connectionLimiter = new ConnectionLimiter(settings);
  if (dependencies.onConnectionClosed) connectionLimiter.onClosed = dependencies.onConnectionClosed;
  routeExpectations(app.server);
  serializePipelinedRequests(app.server);
  connectionLimiter.watch(app);
  const markSignedIn: ConnectionLimiter["markSignedIn"] = (request, account) =>
    connectionLimiter.markSignedIn(request, account);
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
  app.decorateRequest("isArriving", false);
  app.decorateRequest("checkedAt", Number.POSITIVE_INFINITY);
  app.decorateRequest("bytes", null);
  app.decorateRequest("response", null);
  // Runs before the body arrives, which may take long.
  app.addHook("preParsing", async (request, _reply, payload) => {
    if (request.bearer) connectionLimiter.markSignedIn(request, request.bearer.account);
    return payload;
  });
  installSendTimeout(app, settings.sendSeconds);
  const transport = hstsHeaders(publicUrl);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({ "x-request-id": request.id, "x-content-type-options": "nosniff", ...transport(request) });
    checkHost(request.raw);
    checkExpectation(request.raw);
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
    // Node.js would respond without problem details: `checkHost`.
    requireHostHeader: false,
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
    // Requests that arrive on open connections during shutdown still get a response.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 100 },
    frameworkErrors: ((error, request, reply) =>
      sendProblem(reply, toProblem(error, request))) satisfies FastifyServerOptions["frameworkErrors"],
    clientErrorHandler: respondToClientError,
    ...(tls ? { https: { ...limits, ...tls, handshakeTimeout: limits.headersTimeout } } : { http: limits }),
  };
  return options;
}
