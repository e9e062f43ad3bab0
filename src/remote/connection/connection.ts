/** Address and credentials of a Map Features Service (Map Features Service Interface, 4 and 9). */
import { createError } from "../../errors.js";
import { acceptedEncodings } from "../../io/http/content-encoding.js";
import { redactServer } from "../../io/redact.js";
import type { NetworkSettings } from "../../network-settings.js";

export interface Connection {
  /** Base URL, with or without a path: `https://maps.example.org`. */
  readonly url: string;
  /** Path below the base URL; default `/api/v1`. */
  readonly apiPath?: string;
  /** Path below the base URL; default `/token`. */
  readonly tokenPath?: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Allows sending the secret and tokens unencrypted over a network. */
  readonly insecureHttp?: boolean;
  /** Network limits for requests that do not set their own. */
  readonly network?: Partial<NetworkSettings>;
}

/** The URLs of a service. */
export interface ServiceUrls {
  /** The base URL without a trailing slash, for messages and comparisons. */
  readonly base: string;
  readonly token: string;
  /** Base URL of the API, without a trailing slash. */
  readonly api: string;
}

export const defaultPaths = { api: "/api/v1", token: "/token" } as const;

/** @throws remote-address, remote-insecure */
export function resolveServiceUrls(connection: Omit<Connection, "clientId" | "clientSecret">): ServiceUrls {
  const base = normalizeBaseUrl(connection.url, connection.insecureHttp ?? false);
  return {
    base,
    token: base + normalizePath(connection.tokenPath ?? defaultPaths.token),
    api: base + normalizePath(connection.apiPath ?? defaultPaths.api),
  };
}

/**
 * Normalizes a base URL: host in lower case, no trailing slash.
 * @throws remote-address, remote-insecure
 */
export function normalizeBaseUrl(text: string, insecureHttp: boolean): string {
  const refuse = (reason: string) =>
    createError("remote-address", { address: redactServer(text).slice(0, 200), reason });
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text)) throw refuse("it is not an http or https URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw refuse("it contains a user or password; use a client id and its secret instead");
  if (url.search !== "" || url.hash !== "") throw refuse("it must not contain a query or a fragment");
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url.hostname))
    throw createError("remote-insecure", { host: url.host });
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** Whether the host is a localhost name (RFC 6761, 6.3) or a loopback address. */
const isLoopback = (host: string): boolean =>
  /^127\.\d+\.\d+\.\d+$/.test(host) || host === "[::1]" || host === "localhost" || host.endsWith(".localhost");

/** The Accept-Encoding header. On one machine, compression costs both sides more than it saves. */
export const acceptEncodingHeader = (base: string): Readonly<Record<string, string>> => ({
  "accept-encoding": isLoopback(new URL(base).hostname) ? "identity" : acceptedEncodings,
});

const normalizePath = (path: string): string => {
  const inner = path.replace(/^\/+|\/+$/g, "");
  return inner === "" ? "" : `/${inner}`;
};
