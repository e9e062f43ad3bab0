import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** Sends raw bytes to the service, and returns the response until the service closes the connection. */
export async function sendRawBytes(app: FastifyInstance, bytes: string | Buffer): Promise<string> {
  return (await sendRawParts(app, bytes)).response;
}

/**
 * Sends the first bytes of a request; `socket` takes the others. `response` resolves when the service closes the
 * connection.
 */
export async function sendRawParts(
  app: FastifyInstance,
  bytes: string | Buffer,
): Promise<{ readonly socket: Socket; readonly response: Promise<string> }> {
  if (!app.server.listening) await app.listen({ host: "127.0.0.1", port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    answer += chunk;
  });
  socket.write(bytes);
  return { socket, response: once(socket, "close").then(() => answer) };
}
