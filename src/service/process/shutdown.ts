/** The end of the service: whatever was asked is answered, and no one is kept waiting for a connection that idles. */
import type { FastifyInstance } from "fastify";

/** Lets clients open another connection, which then leads to a process that goes on. To be called before it is ready. */
export function closeConnectionsOnShutdown(app: FastifyInstance, isEnding: () => boolean): void {
  app.addHook("onSend", async (_request, reply, payload) => {
    if (isEnding()) reply.header("connection", "close");
    return payload;
  });
}

/** Accepts no connection any more, and cuts those that are not done after so many seconds. */
export async function closeWithTimeout(app: FastifyInstance, seconds: number): Promise<void> {
  const cut = setTimeout(() => {
    app.log.warn({ seconds }, "requests took too long to end and were cut off");
    app.server.closeAllConnections();
  }, seconds * 1000);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
  }
}
