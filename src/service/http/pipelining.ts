import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests of a connection that wait, from which on no more are read from it. */
const maxQueuedRequests = 16;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Hands over the requests of a connection one after the other, where a client sends several without waiting for answers
 * (pipelining; RFC 9112, 9.3.2). Node.js hands over all of them at once, and when the connection is gone, it tells this
 * of the response that is being sent and of no other: all that the others hold would be held for ever, and each would
 * be worked off for no one. Those that wait are forgotten with their connection.
 *
 * To be called once the server has its listener for requests, and before it listens.
 */
export function serializePipelinedRequests(server: Server): void {
  const listeners = server.listeners("request") as RequestListener[];
  server.removeAllListeners("request");
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    for (const listener of listeners) listener.call(server, request, response);
  };
  /** Of connections with a request that is being answered. */
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
