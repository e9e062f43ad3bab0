import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import type { FastifyInstance } from "fastify";

/** Sends raw bytes to the service, and returns the response until the service closes the connection. */
export async function sendRawBytes(app: FastifyInstance, bytes: string | Buffer): Promise<string> {
  if (!app.server.listening) await app.listen({ host: "127.0.0.1", port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    answer += chunk;
  });
  socket.write(bytes);
  await once(socket, "close");
  return answer;
}
