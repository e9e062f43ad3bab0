import { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";

/**
 * Disconnects clients that request a response but do not read it for `seconds`; otherwise each would hold a connection
 * and a response in memory forever. Call it before routes are added.
 */
export function installSendTimeout(app: FastifyInstance, seconds: number): void {
  const setSocketTimeout = ({ raw: { socket } }: FastifyRequest, milliseconds: number): void => {
    // Injected requests have no socket.
    if (socket instanceof Socket) socket.setTimeout(milliseconds);
  };
  // No timeout while the request is processed.
  app.addHook("onRequest", async (request) => setSocketTimeout(request, 0));
  // Each read by the client restarts the timeout; after the response the server sets the keep-alive timeout.
  app.addHook("onSend", async (request, _reply, payload) => {
    setSocketTimeout(request, seconds * 1000);
    return payload;
  });
}
