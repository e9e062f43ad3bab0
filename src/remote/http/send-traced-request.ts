/** A request as a span, by OpenTelemetry's Semantic Conventions for HTTP Client Spans; the service goes on with the trace. */
import type { NetworkSettings } from "../../network-settings.js";
import { isTracingEnabled, withSpan } from "../../tracing/span.js";
import { type ServiceRequest, type ServiceResponse, sendRequest } from "./send-request.js";

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** As `exchange`. */
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
    // No request of ours has a secret in its address.
    "url.full": url,
    ...(body === undefined ? {} : { "http.request.body.size": Buffer.byteLength(body) }),
  };
  return withSpan(method, { kind: "client", attributes }, async (span) => {
    const headers = { ...request.headers, ...span.headers };
    const answer = await sendRequest({ ...request, headers }, limits, signal);
    span.set({ "http.response.status_code": answer.status });
    if (answer.status >= 400) span.fail(String(answer.status));
    return answer;
  });
}
