/** Headers of each request to which Node.js would respond without problem details. */
import type { IncomingMessage, Server } from "node:http";
import { problem } from "./problems.js";

/**
 * HTTP/1.1 requires one `Host` (RFC 9112, 3.2). Of several ones Node.js takes the first, and a proxy may have taken another.
 *
 * @throws {Problem} `bad-header`
 */
export function checkHost({ rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (/^host$/i.test(rawHeaders[i]!)) hosts++;
  if (hosts > 1) throw problem("bad-header", { name: "Host", reason: "it is there more than once" });
  if (hosts === 0 && httpVersion === "1.1") throw problem("bad-header", { name: "Host", reason: "it is missing" });
}

/** Requests with an `Expect` other than `100-continue` take the way of all others, to {@link checkExpectation}. */
export function routeExpectations(server: Server): void {
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

/**
 * The only expectation is `100-continue` (RFC 9110, 10.1.1), which Node.js answers.
 *
 * @throws {Problem} `expectation-failed`
 */
export function checkExpectation({ headers: { expect } }: IncomingMessage): void {
  if (expect !== undefined && !/^100-continue$/i.test(expect)) throw problem("expectation-failed", { expect });
}
