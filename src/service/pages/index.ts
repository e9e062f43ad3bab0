/** The pages as a plugin of the server: a request becomes a visit, and what a page answers becomes the reply. */
import compress from "@fastify/compress";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { basePath } from "../address.js";
import { Attempts } from "../auth/attempts.js";
import { type PageBodies, releaseAfter, sendPage } from "../features/page-bodies.js";
import type { Settings } from "../settings.js";
import type { Store } from "../store/contract.js";
import { Assets } from "./assets.js";
import { BrowserVisit } from "./browser-visit.js";
import { credentialRoutes } from "./credentials.js";
import { faultOfStatus, faultPage, foreignForm, notFound, PageFault } from "./faults.js";
import { layout } from "./layout.js";
import { mapRoutes } from "./map-page.js";
import { mapSettingsRoutes } from "./map-settings.js";
import { mapsRoutes } from "./maps.js";
import { profileRoutes } from "./profile.js";
import { securityHeaders } from "./security-headers.js";
import { setupRoutes } from "./set-up.js";
import { signInAddress, signInRoutes } from "./sign-in.js";
import { type Answer, type Route, redirect, type Site } from "./visit.js";

export interface PagesOptions {
  readonly store: Store;
  readonly bodies: PageBodies;
  readonly settings: Settings;
  readonly publicUrl: string | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Keeps the connection of a person who is signed in (`ConnectionGuard`). */
  readonly markSignedIn: (request: FastifyRequest, account: string) => void;
}

/** Bytes of a form; the longest field has some hundred characters. */
const formBytes = 64 * 1024;

const startRoute: Route = {
  method: "GET",
  url: "/",
  open: true,
  answer: async ({ visitor }) => redirect(visitor === null ? "/sign-in" : "/maps"),
};

const routes: readonly Route[] = [
  startRoute,
  ...setupRoutes,
  ...signInRoutes,
  ...profileRoutes,
  ...credentialRoutes,
  ...mapsRoutes,
  ...mapSettingsRoutes,
  ...mapRoutes,
];

export interface Pages {
  /** The plugin. */
  register(app: FastifyInstance): Promise<void>;
  /** For where there is nothing: whether a page is to say so. */
  wantsPage(request: FastifyRequest): boolean;
  sayNotFound(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

/** Reads what pages load, once. */
export function makePages({ store, bodies, settings, publicUrl, now, markSignedIn }: PagesOptions): Pages {
  const sessions = { idle: settings.sessionIdleSeconds * 1000, absolute: settings.sessionSeconds * 1000 };
  const attempts = new Attempts(store, settings, now);
  const site: Site = { store, bodies, assets: new Assets(), now, publicUrl, sessions, attempts };
  return {
    register: (app) => register(app, site, settings, markSignedIn),
    wantsPage: ({ method, headers }) => /^(GET|HEAD)$/.test(method) && /\btext\/html\b/.test(headers.accept ?? ""),
    async sayNotFound(request, reply) {
      const visit = new BrowserVisit(request, site);
      await visit.recognise();
      return send(reply.headers(securityHeaders), visit, faultPage(notFound(), request.id));
    },
  };
}

async function register(
  app: FastifyInstance,
  site: Site,
  settings: Settings,
  markSignedIn: PagesOptions["markSignedIn"],
): Promise<void> {
  app.addHook("onRequest", async (_request, reply) => void reply.headers(securityHeaders));
  await app.register(compress, { encodings: ["gzip"], threshold: settings.gzipBytes, globalDecompression: false });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: formBytes },
    async (_request: FastifyRequest, text: string) => new URLSearchParams(text),
  );
  /** So that a page of a fault, too, knows who is signed in. */
  const visits = new WeakMap<FastifyRequest, BrowserVisit>();
  app.setErrorHandler<FastifyError | PageFault>((error, request, reply) => {
    const fault = error instanceof PageFault ? error : faultOfStatus(statusOf(error));
    if (fault.status >= 500) request.log.error({ err: error }, fault.title);
    return send(reply, visits.get(request) ?? new BrowserVisit(request, site), faultPage(fault, request.id));
  });
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.url,
      handler: async (request, reply) => {
        const visit = new BrowserVisit(request, site);
        visits.set(request, visit);
        await visit.recognise();
        if (visit.visitor) markSignedIn(request, visit.visitor.account);
        return send(reply, visit, await answerOf(route, visit));
      },
    });
  }
  site.assets.serve(app);
}

/** A store that is away says so by its code. */
const statusOf = ({ statusCode, code }: FastifyError): number =>
  statusCode ?? (code === "store-unavailable" ? 503 : 500);

async function answerOf(route: Route, visit: BrowserVisit): Promise<Answer> {
  if (route.method === "POST" && !visit.isOwnForm()) throw foreignForm();
  if (route.open) return route.answer(visit);
  const { visitor } = visit;
  if (visitor !== null) return route.answer(Object.assign(visit, { visitor }));
  if (route.method === "GET") return redirect(signInAddress(visit.path));
  return redirect("/sign-in", "You were signed out meanwhile. Nothing was changed: sign in, and do it once more.");
}

function send(reply: FastifyReply, visit: BrowserVisit, answer: Answer): FastifyReply {
  reply.header("cache-control", "no-store");
  // What was said once is taken away; data for a script says nothing.
  const said = visit.notice === null ? undefined : null;
  if (answer.kind === "data") {
    releaseAfter(reply, answer.page);
    return sendPage(reply.type("application/json"), answer.page);
  }
  if (answer.kind === "redirect") {
    return reply
      .header("set-cookie", visit.cookies(answer.notice))
      .redirect(basePath(visit.site.publicUrl) + answer.to, 303);
  }
  const text = layout(answer, visit);
  if (answer.retryAfter !== undefined) reply.header("retry-after", String(answer.retryAfter));
  reply.header("set-cookie", visit.cookies(said));
  return reply
    .status(answer.status ?? 200)
    .type("text/html; charset=utf-8")
    .send(text);
}
