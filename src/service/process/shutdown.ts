/** Graceful shutdown: finishes requests in progress, and closes idle connections. */
import type { FastifyInstance } from "fastify";

/**
 * Closes connections after their response during shutdown, so that clients reconnect to another process. Call it before
 * the app is ready.
 */
export function closeConnectionsOnShutdown(app: FastifyInstance, isEnding: () => boolean): void {
  app.addHook("onSend", async (_request, reply, payload) => {
    if (isEnding()) reply.header("connection", "close");
    return payload;
  });
}

/** Stops accepting connections, and closes those with requests in progress after `seconds`. */
export async function closeWithTimeout(app: FastifyInstance, seconds: number): Promise<void> {
  const timer = setTimeout(() => {
    app.log.warn({ seconds }, "closed connections with requests still in progress after the shutdown timeout");
    app.server.closeAllConnections();
  }, seconds * 1000);
  try {
    await app.close();
  } finally {
    clearTimeout(timer);
  }
}
