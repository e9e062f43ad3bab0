/** Which service is meant, and who asks: from a command line, the environment and profiles, in this order. */
import { createError } from "../../errors.js";
import { type Connection, normalizeBaseUrl } from "./connection.js";
import { defaultProfile, getProfile, type Profiles } from "./profiles.js";

/** What a person or a job says; what is not said is undefined. */
export interface ServiceConnectionOptions {
  readonly url?: string;
  readonly profile?: string;
  readonly insecureHttp?: boolean;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly apiPath?: string;
  readonly tokenPath?: string;
}

export interface ResolvedConnection extends Connection {
  /** Where the credentials are from; null for the environment. */
  readonly profile: string | null;
}

/**
 * Credentials of a profile go to the service that they were given for, and to no other.
 * @param file where the profiles are, for messages
 * @throws remote-unknown, remote-profile, remote-address, remote-insecure, usage
 */
export function resolveConnection(
  wish: ServiceConnectionOptions,
  profiles: Profiles,
  file: string,
): ResolvedConnection {
  checkCredentialPair(wish);
  const found = findProfile(wish, profiles, file);
  const url = wish.url ?? found?.connection.url;
  if (url === undefined) throw createError("remote-unknown", { reason: `which service? ${listProfiles(profiles)}` });
  const { connection } = found ?? {};
  const clientId = wish.clientId ?? connection?.clientId;
  const clientSecret = wish.clientSecret ?? connection?.clientSecret;
  if (clientId === undefined || clientSecret === undefined)
    throw createError("remote-unknown", { reason: `there are no credentials for ${url}` });
  const [apiPath, tokenPath] = [wish.apiPath ?? connection?.apiPath, wish.tokenPath ?? connection?.tokenPath];
  return {
    url,
    clientId,
    clientSecret,
    ...(apiPath !== undefined && { apiPath }),
    ...(tokenPath !== undefined && { tokenPath }),
    ...(connection?.network && { network: connection.network }),
    insecureHttp: wish.insecureHttp ?? connection?.insecureHttp ?? false,
    profile: wish.clientId === undefined ? found!.name : null,
  };
}

/** Whether no profile is needed. */
export const hasUrlAndCredentials = ({ url, clientId, profile }: ServiceConnectionOptions): boolean =>
  url !== undefined && clientId !== undefined && profile === undefined;

function checkCredentialPair({ clientId, clientSecret }: ServiceConnectionOptions): void {
  if ((clientId === undefined) === (clientSecret === undefined)) return;
  const [set, unset] = ["GEOFERRY_CLIENT_ID", "GEOFERRY_CLIENT_SECRET"];
  const [there, missing] = clientId === undefined ? [unset, set] : [set, unset];
  throw createError("usage", { reason: `${there} is set, but ${missing} is not: set both, or neither` });
}

interface NamedConnection {
  readonly name: string;
  readonly connection: Connection;
}

/** The profile that is named; else the one for this address, or the usual one where none is given. */
function findProfile(wish: ServiceConnectionOptions, profiles: Profiles, file: string): NamedConnection | null {
  if (hasUrlAndCredentials(wish)) return null;
  const { url, profile } = wish;
  // Comparing sends nothing: whether http may be used is asked later.
  const base = url === undefined ? null : normalizeBaseUrl(url, true);
  const isForIt = (connection: Connection) => base === null || normalizeBaseUrl(connection.url, true) === base;
  if (profile !== undefined) {
    const connection = getProfile(profiles, profile, file);
    if (isForIt(connection)) return { name: profile, connection };
    throw createError("usage", {
      reason: `the profile ${profile} is for ${connection.url}, but --url or GEOFERRY_URL says ${url}: leave one of them away`,
    });
  }
  const usual = profiles.get(defaultProfile);
  if (usual && isForIt(usual)) return { name: defaultProfile, connection: usual };
  if (base === null) return null;
  const fitting = [...profiles].filter(([, connection]) => isForIt(connection));
  if (fitting.length > 1) {
    const names = fitting.map(([name]) => name).join(", ");
    throw createError("usage", { reason: `several profiles are for ${url}: ${names}; choose one with --profile` });
  }
  const [only] = fitting;
  return only ? { name: only[0], connection: only[1] } : null;
}

const listProfiles = (profiles: Profiles): string =>
  profiles.size === 0
    ? "none is named"
    : `none is named, and there is no profile ${defaultProfile}; --profile takes one of ${[...profiles.keys()].join(", ")}`;
