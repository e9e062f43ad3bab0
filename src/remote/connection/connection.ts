/** Where a Map Features Service is and who asks it (Map Features Service Interface, 4 and 9). */
import { createError } from "../../errors.js";
import { acceptedEncodings } from "../../io/http/content-encoding.js";
import type { NetworkSettings } from "../../network-settings.js";

export interface Connection {
  /** Base address, with a path or without: `https://maps.example.org`. */
  readonly url: string;
  /** Below the base address; `/api/v1`. */
  readonly apiPath?: string;
  /** Below the base address; `/token`. */
  readonly tokenPath?: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Secret and tokens may cross a network in the clear. */
  readonly insecureHttp?: boolean;
  /** How patient requests to it are, where nothing else is said. */
  readonly network?: Partial<NetworkSettings>;
}

/** The addresses of a service. */
export interface ServiceUrls {
  /** The base address without a slash at its end, for messages and comparisons. */
  readonly base: string;
  readonly token: string;
  /** Of the API, without a slash at its end. */
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
 * The base address in one way of writing: host in lower case, no slash at the end.
 * @throws remote-address, remote-insecure
 */
export function normalizeBaseUrl(text: string, insecureHttp: boolean): string {
  const refuse = (reason: string) => createError("remote-address", { address: redactUrl(text), reason });
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text)) throw refuse("it is no address of http or https");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw refuse("it has a user or a password in it, where a client id and its secret are needed");
  if (url.search !== "" || url.hash !== "") throw refuse("it has a query or a fragment, and paths follow it");
  if (url.protocol === "http:" && !insecureHttp && !isLoopback(url.hostname))
    throw createError("remote-insecure", { host: url.host });
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** Without what may be a password. */
const redactUrl = (text: string): string =>
  text
    .replace(/[?#].*$/s, "")
    .replace(/\/\/[^/]*@/, "//")
    .slice(0, 200);

/** RFC 6761, 6.3, and the loopback addresses. */
const isLoopback = (host: string): boolean =>
  /^127\.\d+\.\d+\.\d+$/.test(host) || host === "[::1]" || host === "localhost" || host.endsWith(".localhost");

/** Headers that say which encodings answers may have: within a machine, compressing costs both sides more than it spares. */
export const acceptEncodingHeader = (base: string): Readonly<Record<string, string>> => ({
  "accept-encoding": isLoopback(new URL(base).hostname) ? "identity" : acceptedEncodings,
});

const normalizePath = (path: string): string => {
  const inner = path.replace(/^\/+|\/+$/g, "");
  return inner === "" ? "" : `/${inner}`;
};
