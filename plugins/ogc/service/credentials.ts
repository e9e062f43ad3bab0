/** Secrets for OGC services, from the environment. */
import { createError } from "../../../src/errors.js";

export interface Credentials {
  readonly user: string | null;
  readonly password: string | null;
  /** A bearer token (RFC 6750). */
  readonly token: string | null;
  /** A parameter of all requests, `name=value`, such as a key. */
  readonly parameter: readonly [name: string, value: string] | null;
}

/** @throws usage */
export function readCredentials(environment: NodeJS.ProcessEnv): Credentials {
  const setting = (name: string): string | null => environment[`GEOFERRY_OGC_${name}`] || null;
  const parameter = setting("PARAMETER");
  const equals = parameter?.indexOf("=") ?? -1;
  if (parameter !== null && equals < 1)
    throw createError("usage", { reason: "GEOFERRY_OGC_PARAMETER must have the form name=value" });
  const [user, password] = [setting("USER"), setting("PASSWORD")];
  if ((user === null) !== (password === null))
    throw createError("usage", { reason: "set both GEOFERRY_OGC_USER and GEOFERRY_OGC_PASSWORD, or neither" });
  return {
    ...{ user, password, token: setting("TOKEN") },
    parameter: parameter === null ? null : [parameter.slice(0, equals), parameter.slice(equals + 1)],
  };
}

const isLoopback = (host: string): boolean =>
  /^127\.\d+\.\d+\.\d+$/.test(host) || host === "[::1]" || host === "localhost" || host.endsWith(".localhost");

/** @throws usage if a secret would be sent unencrypted */
export function requireEncryption(source: string, { protocol, hostname }: URL, credentials: Credentials): void {
  const { user, token, parameter } = credentials;
  if ((user ?? token ?? parameter) === null || protocol !== "http:" || isLoopback(hostname)) return;
  throw createError("usage", {
    reason: `${source}: http would send the password, token or key unencrypted; write https://, or unset GEOFERRY_OGC_USER, GEOFERRY_OGC_TOKEN and GEOFERRY_OGC_PARAMETER to read without credentials`,
  });
}

/** The header of a request (RFC 6750, RFC 7617); null without credentials. A token wins. */
export function authorizationOf({ user, password, token }: Credentials): string | null {
  if (token !== null) return `Bearer ${token}`;
  return user === null ? null : `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}

/** Texts that no message may contain. */
export const secretsOf = ({ password, token, parameter }: Credentials): string[] =>
  [password, token, parameter?.[1]].filter((text): text is string => typeof text === "string" && text !== "");
