/** Servers that accept connections and respond slowly or not at all. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

export type SilenceMode = "silent" | "silent after the head" | "a byte now and then";

export class SilentServer {
  /** Number of requests that started to arrive, one per connection. */
  requests = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(manner: SilenceMode) {
    this.server = createServer((socket) => {
      this.sockets.add(socket);
      socket.on("error", () => {});
      socket.once("data", () => {
        this.requests++;
        if (manner !== "silent") socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n");
        if (manner !== "a byte now and then") return;
        const timer = setInterval(() => socket.write("a"), 25).unref();
        socket.once("close", () => clearInterval(timer));
      });
    });
  }

  static async start(manner: SilenceMode = "silent"): Promise<SilentServer> {
    const peer = new SilentServer(manner);
    peer.server.listen(0, "127.0.0.1");
    await once(peer.server, "listening");
    return peer;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}
