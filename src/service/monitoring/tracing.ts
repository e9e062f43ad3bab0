/**
 * Requests as spans, by OpenTelemetry's Semantic Conventions for HTTP Server Spans: children of what asked, with what they
 * ask of the store as their own children.
 */
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { hasActiveSpan, isTracingEnabled, type OpenSpan, startSpan, withSpan } from "../../tracing/span.js";
import type { Store } from "../store/contract.js";
import { wrapStoreCalls } from "../store/store-wrapper.js";

/** To be called before the routes of the app are made; does nothing where nothing is traced. */
export function traceRequests(app: FastifyInstance): void {
  if (!isTracingEnabled()) return;
  const spans = new WeakMap<FastifyRequest, OpenSpan>();
  app.addHook("onRequest", async (request, { raw }) => {
    const { url: route } = request.routeOptions;
    const { traceparent, tracestate } = request.headers;
    const parent = { traceparent: firstHeader(traceparent), tracestate: firstHeader(tracestate) };
    const attributes = {
      "http.request.method": request.method,
      "url.scheme": request.protocol,
      "url.path": request.url.replace(/\?.*$/s, ""),
      "server.address": request.hostname,
      "geoferry.request_id": request.id,
      ...(route === undefined ? {} : { "http.route": route }),
    };
    const name = route === undefined ? request.method : `${request.method} ${route}`;
    const span = startSpan(name, { kind: "server", attributes, parent });
    spans.set(request, span);
    // Also where the client goes away before the end, of which no hook tells once its body was read.
    raw.once("close", () => endSpan(span, raw));
  });
  // After the body, whose bytes come from a stream that belongs to no request.
  app.addHook("preHandler", (request, _reply, done) => spans.get(request)!.run(done));
}

function endSpan(span: OpenSpan, { headersSent, statusCode, writableFinished }: ServerResponse): void {
  if (headersSent) span.set({ "http.response.status_code": statusCode });
  if (!writableFinished) span.fail("aborted");
  else if (statusCode >= 500) span.fail(String(statusCode));
  span.end();
}

const firstHeader = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

/** The same store, whose answers are spans; itself where nothing is traced. */
export function traceStoreCalls(store: Store): Store {
  if (!isTracingEnabled()) return store;
  const attributes = { "db.system.name": store.name };
  return wrapStoreCalls(
    store,
    (name, call) =>
      (...values) =>
        hasActiveSpan() ? withSpan(`store ${name}`, { attributes }, async () => call(...values)) : call(...values),
  );
}
