/**
 * Traces requests as spans (OpenTelemetry Semantic Conventions for HTTP server spans), children of the caller's span;
 * store calls are their children.
 */
import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { hasActiveSpan, isTracingEnabled, type OpenSpan, startSpan, withSpan } from "../../tracing/span.js";
import type { Store } from "../store/contract.js";
import { wrapStoreCalls } from "../store/store-wrapper.js";

/** Call it before routes are added; does nothing if tracing is disabled. */
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
    // Also runs if the client disconnects early; no hook runs for this after the body was read.
    raw.once("close", () => endSpan(span, raw));
  });
  // Runs after the body is parsed, whose stream events have no request context.
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

/** Wraps a store so that its calls are traced; returns it unchanged if tracing is disabled. */
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
