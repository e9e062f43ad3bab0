/** HTTP endpoint for Prometheus metrics of a running command. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { collectDefaultMetrics, type Registry } from "prom-client";
import { listenOrigin, toListenError } from "../../service/process/listen.js";
import type { MetricsPlace } from "../options/metrics-options.js";

export class MetricsEndpoint implements AsyncDisposable {
  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** Serves the registry and metrics of the process. @throws address-in-use, address-unavailable */
  static async open({ host, port }: MetricsPlace, registry: Registry): Promise<MetricsEndpoint> {
    collectDefaultMetrics({ register: registry });
    const server = createServer(({ method, url = "/" }, response) => {
      const isMetrics = url.replace(/\?.*$/s, "") === "/metrics" && (method === "GET" || method === "HEAD");
      if (!isMetrics)
        response.writeHead(404, { "content-type": "text/plain" }).end("not found; metrics are at /metrics\n");
      else
        registry.metrics().then(
          (metrics) => response.writeHead(200, { "content-type": registry.contentType }).end(metrics),
          () => response.writeHead(500).end(),
        );
    });
    server.unref();
    try {
      server.listen(port, host);
      await once(server, "listening");
    } catch (error) {
      throw toListenError(error, host, port, "--metrics-port");
    }
    return new MetricsEndpoint(server, `${listenOrigin(server.address() as AddressInfo, "http", host)}/metrics`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}
