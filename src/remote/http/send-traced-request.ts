/**
 * Records a request as a span (OpenTelemetry Semantic Conventions for HTTP Client Spans) and propagates the trace to
 * the service.
 */
import type { NetworkSettings } from "../../network-settings.js";
import { isTracingEnabled, withSpan } from "../../tracing/span.js";
import { type ServiceRequest, type ServiceResponse, sendRequest } from "./send-request.js";

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Same contract as `sendRequest`. */
export function sendTracedRequest(
  request: ServiceRequest,
  limits: Partial<NetworkSettings>,
  signal: AbortSignal,
): Promise<ServiceResponse> {
  if (!isTracingEnabled()) return sendRequest(request, limits, signal);
  const { method, url, body } = request;
  const { hostname, port, protocol } = new URL(url);
  const attributes = {
    "http.request.method": method,
    "server.address": hostname,
    "server.port": port === "" ? defaultPorts[protocol]! : Number(port),
    // Request URLs contain no secrets.
    "url.full": url,
    ...(body === undefined ? {} : { "http.request.body.size": Buffer.byteLength(body) }),
  };
  return withSpan(method, { kind: "client", attributes }, async (span) => {
    const headers = { ...request.headers, ...span.headers };
    const response = await sendRequest({ ...request, headers }, limits, signal);
    span.set({ "http.response.status_code": response.status });
    if (response.status >= 400) span.fail(String(response.status));
    return response;
  });
}
