import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { newUuidV7 } from "../identifiers/uuid-v7.js";
import { type Problem, problem } from "./problems.js";

/** Errors of Node.js before a request is complete. */
const problemsByErrorCode: Readonly<Record<string, () => Problem>> = {
  HPE_HEADER_OVERFLOW: () => problem("headers-too-large", {}),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: () => problem("headers-too-large", {}),
  ERR_HTTP_REQUEST_TIMEOUT: () => problem("request-timeout", {}),
};

/** Responds to input that is not a valid request: headers too large, too slow, or not HTTP. */
export function respondToClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const found = problemsByErrorCode[error.code ?? ""]?.() ?? problem("bad-request", { reason: "it is not HTTP/1.1" });
  const body = JSON.stringify(found.toWire(newUuidV7()));
  const head = [
    `HTTP/1.1 ${found.statusCode} ${STATUS_CODES[found.statusCode]}`,
    "Content-Type: application/problem+json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // A client that never closes its side would hold the connection open. One that does receives the response first.
  setTimeout(() => socket.destroy(), lingerMs).unref();
}

/** How long a client may take to read the response and close its side, in milliseconds. */
const lingerMs = 2000;
