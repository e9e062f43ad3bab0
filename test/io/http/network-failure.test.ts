/** What is said of servers that speak another protocol than the address says. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import {
  classifyFirstFailure,
  classifyNetworkError,
  type NetworkFailure,
} from "../../../src/io/http/network-failure.js";
import { sendRequest } from "../../../src/remote/http/send-request.js";

let server: Server;
afterEach(() => server.close());

/** A server that answers the first bytes so and ends. @returns host and port */
async function answering(bytes: Buffer | string | null): Promise<string> {
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => (bytes === null ? socket.destroy() : socket.end(bytes)));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** By node:http, as services are asked, and by fetch, as inputs are. */
const clients: readonly (readonly [string, (url: string) => Promise<unknown>])[] = [
  [
    "node:http",
    (url) => sendRequest({ method: "GET", url, headers: {} }, { timeout: 5000 }, new AbortController().signal),
  ],
  ["fetch", (url) => fetch(url)],
];

async function failureOf(ask: Promise<unknown>): Promise<NetworkFailure> {
  const error = await ask.then(
    () => expect.unreachable("there was an answer"),
    (error: unknown) => error,
  );
  return classifyNetworkError(error);
}

test.each(clients)("a server without TLS is distinguished from an unreachable one by %s", async (_, ask) => {
  const host = await answering("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  const { reason, isTransient } = await failureOf(ask(`https://${host}/`));
  expect(reason).toBe("the server does not use TLS; to connect without encryption, write http://");
  expect(isTransient).toBe(false);
});

test.each(clients)("a server that answers plain HTTP with a TLS alert is reported by %s", async (_, ask) => {
  // RFC 8446, 5.1 and 6: alert, legacy version 1.2, two bytes: fatal, unexpected_message.
  const host = await answering(Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x0a]));
  expect(await failureOf(ask(`http://${host}/`))).toEqual({
    reason: "the server only accepts TLS; write https://",
    isTransient: false,
    isUntrusted: false,
  });
});

test.each(clients)("the TLS alert of a server is quoted in words, by %s", async (_, ask) => {
  // RFC 8446, 6.2: fatal, handshake_failure.
  const host = await answering(Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]));
  const { reason } = await failureOf(ask(`https://${host}/`));
  expect(reason).toMatch(/handshake failure$/);
  expect(reason).not.toContain(":");
});

test.each(clients)("a server with TLS 1.0 only is not tried again, by %s", async (_, ask) => {
  // RFC 8446, 6.2: fatal, protocol_version.
  const host = await answering(Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]));
  const { reason, isTransient } = await failureOf(ask(`https://${host}/`));
  expect(reason).toBe("the server only offers versions of TLS before 1.2, which are not secure");
  expect(isTransient).toBe(false);
});

test.each(clients)(
  "a server that closes plain HTTP connections is reported as possibly TLS only, by %s",
  async (_, ask) => {
    const host = await answering(null);
    const failure = await failureOf(ask(`http://${host}/`));
    const reason = "the server closed the connection; if it only accepts TLS, write https://";
    expect(classifyFirstFailure(failure, `http://${host}/`)).toEqual({ reason, isTransient: true, isUntrusted: false });
    expect(classifyFirstFailure(failure, `https://${host}/`)).toEqual(failure);
  },
);
