import type { FastifyInstance } from "fastify";
import { requestPath } from "./error-handler.js";
import { type Problem, problem } from "./problems.js";

/**
 * Records the paths of all routes to distinguish a wrong method (405 with Allow; RFC 9110, 15.5.6) from a wrong path
 * (404). Call it before routes are added.
 */
export function trackRouteMethods(app: FastifyInstance): (request: { method: string; url: string }) => Problem {
  const methods = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    if (url.includes("*")) return;
    const of = methods.get(url) ?? new Set();
    for (const one of [method].flat()) of.add(one);
    methods.set(url, of);
  });
  const pattern = (url: string) =>
    new RegExp(`^${url.replace(/[.\\+?()[\]{}|^$]/g, "\\$&").replace(/:[A-Za-z]+/g, "[^/]+")}$`);

  return ({ method, url }) => {
    const path = requestPath(url);
    const allowed = [...methods].filter(([route]) => pattern(route).test(path)).flatMap(([, of]) => [...of]);
    if (allowed.length === 0) return problem("not-found", { path });
    // Only these paths support CORS preflight requests.
    const preflights = path.startsWith("/api/") ? ["OPTIONS"] : [];
    const allow = [...new Set([...allowed, ...preflights])].sort().join(", ");
    return problem("method-not-allowed", { method, allow }, { headers: { allow } });
  };
}
