/** The service as a function of its store: everything but listening, so that tests need no port. */
import { tmpdir } from "node:os";
import type { SecureContextOptions } from "node:tls";
import fastify, { type FastifyInstance, type FastifyServerOptions, LogController } from "fastify";
import { basePath, belowPath, withoutLastSlash } from "./address.js";
import { api } from "./api.js";
import { refuseOtherMethods, tokenEndpoint } from "./auth/token-endpoint.js";
import { type Budgets, newBudgets } from "./byte-budget.js";
import { answerClientErrors } from "./client-errors.js";
import { ConnectionGuard } from "./connections.js";
import { asProblem, handleErrors, sendProblem } from "./errors.js";
import { PageBodies } from "./features/page-bodies.js";
import { rememberPaths } from "./known-paths.js";
import { newId } from "./new-id.js";
import { describeRoutes, serveDescription } from "./openapi.js";
import { makePages } from "./pages/index.js";
import { answerInTurn } from "./pipelining.js";
import { defaultSettings, type Settings } from "./settings.js";
import { cutSlowReaders } from "./slow-readers.js";
import type { Store } from "./store/contract.js";
import { strictTransport } from "./strict-transport.js";

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
  const budgets = dependencies.budgets ?? newBudgets(settings);
  const bodies = new PageBodies({ store, folder: dependencies.spoolFolder ?? tmpdir(), ...budgets });
  const app = fastify(serverOptions(dependencies, settings, basePath(publicUrl))) as unknown as FastifyInstance;
  const notFound = rememberPaths(app);
  handleErrors(app);
  // Each part takes the bodies that it understands, and no other.
  app.removeAllContentTypeParsers();
  const guard = new ConnectionGuard(settings);
  if (dependencies.onConnectionClosed) guard.onClosed = dependencies.onConnectionClosed;
  answerInTurn(app.server);
  guard.watch(app);
  const markSignedIn: ConnectionGuard["markSignedIn"] = (request, account) => guard.markSignedIn(request, account);
  const pages = makePages({ store, bodies, settings, publicUrl, now, markSignedIn });
  app.setNotFoundHandler((request, reply) => {
    const refused = refuseOtherMethods(request, reply);
    if (refused) return refused;
    const found = notFound(request);
    if (found.statusCode === 404 && pages.wantsPage(request)) return pages.sayNotFound(request, reply);
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
  cutSlowReaders(app, settings.sendSeconds);
  const transport = strictTransport(publicUrl);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({ "x-request-id": request.id, "x-content-type-options": "nosniff", ...transport(request) });
  });
  describeRoutes(app, { publicUrl });
  app.register(tokenEndpoint, { store, settings, publicUrl, now });
  const { memory } = budgets;
  app.register(api, { prefix: "/api", store, settings, bodies, memory, publicUrl, now, notFound });
  app.register(async (scope) => serveDescription(scope));
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
    rewriteUrl: ({ url = "/" }: { readonly url?: string }) => withoutLastSlash(path ? belowPath(url, path) : url),
    genReqId: () => newId(),
    requestIdHeader: false as const,
    // `logRequests` writes one line instead of two.
    logController: new LogController({ disableRequestLogging: true }),
    // What comes on a connection that was open is answered, too.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: false, maxParamLength: 100 },
    frameworkErrors: ((error, request, reply) =>
      sendProblem(reply, asProblem(error, request))) satisfies FastifyServerOptions["frameworkErrors"],
    clientErrorHandler: answerClientErrors,
    ...(tls ? { https: { ...limits, ...tls, handshakeTimeout: limits.headersTimeout } } : { http: limits }),
  };
  return options;
}
