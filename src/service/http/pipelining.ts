import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Number of queued requests at which a connection is paused. */
const maxQueuedRequests = 16;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Processes pipelined requests of a connection (RFC 9112, 9.3.2) one at a time. Node.js emits all of them at once, and
 * on disconnect emits `close` only on the response being sent: the others would hold their resources forever and be
 * processed without a client. Queued requests are dropped with their connection.
 *
 * Call this after the server has its `request` listener and before it listens.
 */
export function serializePipelinedRequests(server: Server): void {
  const listeners = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    for (const listener of listeners) listener.call(server, request, response);
  };
  /** Queue of each connection with a request in progress. */
  const waiting = new WeakMap<Socket, Exchange[]>();

  const answer = (socket: Socket, { request, response }: Exchange, queue: Exchange[]): void => {
    response.once("close", () => {
      const next = socket.destroyed || !socket.writable ? undefined : queue.shift();
      if (next === undefined) {
        queue.length = 0;
        waiting.delete(socket);
        return;
      }
      if (queue.length < maxQueuedRequests && socket.isPaused()) socket.resume();
      answer(socket, next, queue);
    });
    handle(request, response);
  };

  server.on("request", (request, response) => {
    const { socket } = request;
    const queue = waiting.get(socket);
    if (queue === undefined) {
      const own: Exchange[] = [];
      waiting.set(socket, own);
      answer(socket, { request, response }, own);
      return;
    }
    queue.push({ request, response });
    if (queue.length >= maxQueuedRequests) socket.pause();
  });
}
