import { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";

/**
 * Cuts off who asks and then takes nothing of the answer for so many seconds: each would hold a connection for ever, and
 * an answer in memory. To be called before any route is made.
 */
export function installSendTimeout(app: FastifyInstance, seconds: number): void {
  const allowSilence = ({ raw: { socket } }: FastifyRequest, milliseconds: number): void => {
    // A request that was injected has no connection.
    if (socket instanceof Socket) socket.setTimeout(milliseconds);
  };
  // While a request is carried out there may be silence, however long it takes.
  app.addHook("onRequest", async (request) => allowSilence(request, 0));
  // Whatever is taken begins the time again; after the answer the server sets that of a connection that idles.
  app.addHook("onSend", async (request, _reply, payload) => {
    allowSilence(request, seconds * 1000);
    return payload;
  });
}
