/** Determines the service and the credentials from the command line, the environment and profiles, in this order. */
import { createError } from "../../errors.js";
import { type Connection, normalizeBaseUrl } from "./connection.js";
import { defaultProfile, getProfile, type Profiles } from "./profiles.js";

/** Options from the command line, environment or job; undefined if not given. */
export interface ServiceConnectionOptions {
  readonly url?: string;
  /**
   * The address in a plan or backup, which may be another's file: used without `url`, and only for a profile of that
   * address.
   */
  readonly recordedUrl?: string;
  readonly profile?: string;
  readonly insecureHttp?: boolean;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly apiPath?: string;
  readonly tokenPath?: string;
}

export interface ResolvedConnection extends Connection {
  /** The profile that supplied the credentials; null for the environment. */
  readonly profile: string | null;
}

/**
 * Resolves the connection. Credentials of a profile are used only for the service of that profile, those of the
 * environment only for an address that the user gave.
 * @param file path of the profiles file, for messages
 * @throws remote-unknown, remote-unconfirmed, remote-profile, remote-address, remote-insecure, usage
 */
export function resolveConnection(
  given: ServiceConnectionOptions,
  profiles: Profiles,
  file: string,
): ResolvedConnection {
  const options = given.url === undefined && given.recordedUrl !== undefined ? useRecorded(given, profiles) : given;
  checkCredentialPair(options);
  const found = findProfile(options, profiles, file);
  const url = options.url ?? found?.connection.url;
  if (url === undefined)
    throw createError("remote-unknown", { reason: `no service is given${listProfiles(profiles)}` });
  const { connection } = found ?? {};
  const clientId = options.clientId ?? connection?.clientId;
  const clientSecret = options.clientSecret ?? connection?.clientSecret;
  if (clientId === undefined || clientSecret === undefined)
    throw createError("remote-unknown", { reason: `there are no credentials for ${url}` });
  const [apiPath, tokenPath] = [options.apiPath ?? connection?.apiPath, options.tokenPath ?? connection?.tokenPath];
  return {
    url,
    clientId,
    clientSecret,
    ...(apiPath !== undefined && { apiPath }),
    ...(tokenPath !== undefined && { tokenPath }),
    ...(connection?.network && { network: connection.network }),
    insecureHttp: options.insecureHttp ?? connection?.insecureHttp ?? false,
    profile: options.clientId === undefined ? found!.name : null,
  };
}

/** @throws remote-unconfirmed if there are credentials, and the address is not that of a profile */
function useRecorded(options: ServiceConnectionOptions, profiles: Profiles): ServiceConnectionOptions {
  const { recordedUrl: url, clientId, profile } = options;
  const isKnown = profile !== undefined || [...profiles.values()].some((known) => isSameBase(known.url, url!));
  if (clientId !== undefined && !isKnown) throw createError("remote-unconfirmed", { url: url! });
  return { ...options, url: url! };
}

/** The comparison sends nothing; a later step checks whether http is allowed. */
const isSameBase = (one: string, other: string): boolean =>
  normalizeBaseUrl(one, true) === normalizeBaseUrl(other, true);

/** Whether the options suffice without a profile. */
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

/** Finds the named profile, else the one for the address, else the default profile if no address is given. */
function findProfile(options: ServiceConnectionOptions, profiles: Profiles, file: string): NamedConnection | null {
  if (hasUrlAndCredentials(options)) return null;
  const { url, profile } = options;
  const matchesUrl = (connection: Connection) => url === undefined || isSameBase(connection.url, url);
  if (profile !== undefined) {
    const connection = getProfile(profiles, profile, file);
    if (matchesUrl(connection)) return { name: profile, connection };
    throw createError("usage", {
      reason: `the profile ${profile} is for ${connection.url}, but --url or GEOFERRY_URL is ${url}: omit one of them`,
    });
  }
  const defaultMatch = profiles.get(defaultProfile);
  if (defaultMatch && matchesUrl(defaultMatch)) return { name: defaultProfile, connection: defaultMatch };
  if (url === undefined) return null;
  const matching = [...profiles].filter(([, connection]) => matchesUrl(connection));
  if (matching.length > 1) {
    const names = matching.map(([name]) => name).join(", ");
    throw createError("usage", { reason: `several profiles match ${url}: ${names}; choose one with --profile` });
  }
  const [only] = matching;
  return only ? { name: only[0], connection: only[1] } : null;
}

const listProfiles = (profiles: Profiles): string =>
  profiles.size === 0
    ? ""
    : `, and there is no profile ${defaultProfile}; choose one with --profile: ${[...profiles.keys()].join(", ")}`;
