/**
 * Requests as spans, by OpenTelemetry's Semantic Conventions for HTTP Server Spans: children of what asked, with what they
 * ask of the store as their own children.
 */
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { beginSpan, isTraced, isWithinSpan, type OpenSpan, traced } from "../tracing/span.js";
import { aroundCalls } from "./store/calls.js";
import type { Store } from "./store/contract.js";

/** To be called before the routes of the app are made; does nothing where nothing is traced. */
export function traceRequests(app: FastifyInstance): void {
  if (!isTraced()) return;
  const spans = new WeakMap<FastifyRequest, OpenSpan>();
  app.addHook("onRequest", async (request, { raw }) => {
    const { url: route } = request.routeOptions;
    const { traceparent, tracestate } = request.headers;
    const parent = { traceparent: first(traceparent), tracestate: first(tracestate) };
    const attributes = {
      "http.request.method": request.method,
      "url.scheme": request.protocol,
      "url.path": request.url.replace(/\?.*$/s, ""),
      "server.address": request.hostname,
      "geoferry.request_id": request.id,
      ...(route === undefined ? {} : { "http.route": route }),
    };
    const name = route === undefined ? request.method : `${request.method} ${route}`;
    const span = beginSpan(name, { kind: "server", attributes, parent });
    spans.set(request, span);
    // Also where the client goes away before the end, of which no hook tells once its body was read.
    raw.once("close", () => endSpan(span, raw));
  });
  // After the body, whose bytes come from a stream that belongs to no request.
  app.addHook("preHandler", (request, _reply, done) => spans.get(request)!.within(done));
}

function endSpan(span: OpenSpan, { headersSent, statusCode, writableFinished }: ServerResponse): void {
  if (headersSent) span.set({ "http.response.status_code": statusCode });
  if (!writableFinished) span.fail("aborted");
  else if (statusCode >= 500) span.fail(String(statusCode));
  span.end();
}

const first = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

/** The same store, whose answers are spans; itself where nothing is traced. */
export function tracedStore(store: Store): Store {
  if (!isTraced()) return store;
  const attributes = { "db.system.name": store.name };
  return aroundCalls(
    store,
    (name, call) =>
      (...values) =>
        isWithinSpan() ? traced(`store ${name}`, { attributes }, async () => call(...values)) : call(...values),
  );
}
