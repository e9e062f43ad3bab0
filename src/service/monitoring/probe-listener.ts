/**
 * A listener of its own for probes and metrics. A crowd of clients fills the queue of new connections of the service's
 * port, and Node.js accepts only one of them in each turn of its event loop: probes on that port wait for seconds, and an
 * orchestrator would restart a process that serves all of its clients.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { toListenError } from "../process/listen.js";

const paths = new Set(["/healthz", "/readyz", "/metrics"]);
/** Probes come every few seconds from one or two clients. */
const maxConnections = 64;

export interface ProbeListener {
  /** `http://127.0.0.1:9090`, as reachable from this machine. */
  readonly url: string;
  close(): Promise<void>;
}

/** Answers the endpoints for monitoring, and nothing else, in plain HTTP. @throws address-in-use, address-unavailable */
export async function listenForProbes(app: FastifyInstance, host: string, port: number): Promise<ProbeListener> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?", 1)[0]!;
    if (paths.has(path)) app.routing(request, response);
    else response.writeHead(404, { connection: "close" }).end();
  });
  server.maxConnections = maxConnections;
  try {
    await listen(server, host, port);
  } catch (error) {
    throw toListenError(error, host, port, "--probe-port");
  }
  const { address, family, port: used } = server.address() as AddressInfo;
  const isWildcard = address === "0.0.0.0" || address === "::";
  const name = family === "IPv6" ? `[${isWildcard ? "::1" : address}]` : isWildcard ? "127.0.0.1" : address;
  return {
    url: `http://${name}:${used}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const listen = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, resolve);
  });
