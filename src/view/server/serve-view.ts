/**
 * Serves a view to browsers of this machine. Every address begins with a secret: without it, nothing is answered, so that
 * neither other users of the machine nor pages of other sites can read the features.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { asGeoferryError, createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import type { View } from "../view.js";
import { answerRequest } from "./answer-request.js";
import { send, sendError } from "./responses.js";

/** A file of the page, by its name in addresses; the page itself has the empty name. */
export interface PageFile {
  readonly type: string;
  readonly content: string | Uint8Array;
}

export interface PageFiles {
  readonly files: ReadonlyMap<string, PageFile>;
  readonly contentSecurityPolicy: string;
}

export interface ServedView {
  /** With the secret. */
  readonly url: string;
  /** An address that leads to `url` once: a command line that contains it can be seen by other users. */
  readonly startUrl: string;
  close(): Promise<void>;
}

const secretBytes = 24;

/** Characters of a request's address. */
const maxAddress = 64 * 1024;

const newSecret = (): string => randomBytes(secretBytes).toString("base64url");

/** @param port 0 for a free one @throws address-in-use, or what the system reports */
export async function serveView(view: View, page: PageFiles, port: number): Promise<ServedView> {
  const secret = newSecret();
  let start: string | null = newSecret();
  const server = createServer({ maxHeaderSize: maxAddress });
  await listen(server, port);
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `http://${host}/${secret}/`;
  const takeStart = (given: string): boolean => {
    if (start === null || !isSame(given, start)) return false;
    start = null;
    return true;
  };
  server.on("request", (request, response) => {
    respond(request, response, { view, page, host, secret, url, takeStart }).catch((error: unknown) => {
      if (!response.headersSent) sendError(response, 500, asGeoferryError(error).message);
      else response.destroy();
    });
  });
  return {
    url,
    startUrl: `http://${host}/start/${start}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      reject(
        createError("usage", { reason: `--port ${port}: ${describeSystemError(error)}; omit it for a free port` }),
      );
    });
    // Other machines cannot reach the loopback address.
    server.listen(port, "127.0.0.1", resolve);
  });
}

interface Serving {
  readonly view: View;
  readonly page: PageFiles;
  readonly host: string;
  readonly secret: string;
  readonly url: string;
  /** Whether a secret is that of the address for one visit, which it then is no more. */
  takeStart(given: string): boolean;
}

async function respond(request: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  setSecurityHeaders(response, serving.page.contentSecurityPolicy);
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    sendError(response, 405, "only GET and HEAD are supported");
    return;
  }
  // A site that makes its name point to this machine sends its own name (DNS rebinding).
  if (!isOwnHost(request.headers.host, serving.host)) {
    sendError(response, 421, "the address names another host");
    return;
  }
  const { pathname, searchParams } = new URL(request.url ?? "/", `http://${serving.host}`);
  const [, first = "", ...rest] = pathname.split("/");
  if (first === "start" && rest.length === 1 && serving.takeStart(rest[0]!)) {
    response.writeHead(303, { location: serving.url }).end();
    return;
  }
  if (!isSame(first, serving.secret) || rest.length === 0) {
    sendError(response, 404, "this address is not that of the view; geoferry printed it when it started");
    return;
  }
  const name = rest.join("/");
  const file = serving.page.files.get(name);
  if (file) send(response, 200, file.type, file.content, request.method === "HEAD");
  else await answerRequest(serving.view, name, searchParams, response);
}

function isOwnHost(given: string | undefined, host: string): boolean {
  const port = host.slice(host.indexOf(":"));
  return given === host || given === `localhost${port}`;
}

/** In a time that does not depend on the texts, unless their lengths differ. */
function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function setSecurityHeaders(response: ServerResponse, policy: string): void {
  response.setHeader("content-security-policy", policy);
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("x-frame-options", "DENY");
  // The secret is part of the address.
  response.setHeader("referrer-policy", "no-referrer");
  response.setHeader("cross-origin-opener-policy", "same-origin");
  response.setHeader("cross-origin-resource-policy", "same-origin");
  response.setHeader("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()");
  response.setHeader("cache-control", "no-store");
}
