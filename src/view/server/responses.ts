import type { ServerResponse } from "node:http";

export function send(
  response: ServerResponse,
  status: number,
  type: string,
  content: string | Uint8Array,
  isHead = false,
): void {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  response.writeHead(status, { "content-type": type, "content-length": bytes.length });
  response.end(isHead ? undefined : bytes);
}

export const sendError = (response: ServerResponse, status: number, message: string): void =>
  send(response, status, "application/json", JSON.stringify({ error: message }));

export const sendJson = (response: ServerResponse, value: unknown): void =>
  send(response, 200, "application/json", JSON.stringify(value));

export const sendBytes = (response: ServerResponse, bytes: Uint8Array): void =>
  send(response, 200, "application/octet-stream", bytes);
