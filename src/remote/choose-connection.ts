/** Which service is meant, and who asks: from a command line, the environment and profiles, in this order. */
import { fault } from "../errors.js";
import { baseAddress, type Connection } from "./connection.js";
import { type Profiles, profileNamed, usualProfile } from "./profile.js";

/** What a person or a job says; what is not said is undefined. */
export interface Wish {
  readonly url?: string;
  readonly profile?: string;
  readonly insecureHttp?: boolean;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly apiPath?: string;
  readonly tokenPath?: string;
}

export interface ChosenConnection extends Connection {
  /** Where the credentials are from; null for the environment. */
  readonly profile: string | null;
}

/**
 * Credentials of a profile go to the service that they were given for, and to no other.
 * @param file where the profiles are, for messages
 * @throws remote-unknown, remote-profile, remote-address, remote-insecure, usage
 */
export function chooseConnection(wish: Wish, profiles: Profiles, file: string): ChosenConnection {
  checkPair(wish);
  const found = profileFor(wish, profiles, file);
  const url = wish.url ?? found?.connection.url;
  if (url === undefined) throw fault("remote-unknown", { reason: `which service? ${otherProfiles(profiles)}` });
  const { connection } = found ?? {};
  const clientId = wish.clientId ?? connection?.clientId;
  const clientSecret = wish.clientSecret ?? connection?.clientSecret;
  if (clientId === undefined || clientSecret === undefined)
    throw fault("remote-unknown", { reason: `there are no credentials for ${url}` });
  const [apiPath, tokenPath] = [wish.apiPath ?? connection?.apiPath, wish.tokenPath ?? connection?.tokenPath];
  return {
    url,
    clientId,
    clientSecret,
    ...(apiPath !== undefined && { apiPath }),
    ...(tokenPath !== undefined && { tokenPath }),
    insecureHttp: wish.insecureHttp ?? connection?.insecureHttp ?? false,
    profile: wish.clientId === undefined ? found!.name : null,
  };
}

/** Whether no profile is needed. */
export const isComplete = ({ url, clientId, profile }: Wish): boolean =>
  url !== undefined && clientId !== undefined && profile === undefined;

function checkPair({ clientId, clientSecret }: Wish): void {
  if ((clientId === undefined) === (clientSecret === undefined)) return;
  const [set, unset] = ["GEOFERRY_CLIENT_ID", "GEOFERRY_CLIENT_SECRET"];
  const [there, missing] = clientId === undefined ? [unset, set] : [set, unset];
  throw fault("usage", { reason: `${there} is set, but ${missing} is not: set both, or neither` });
}

interface Found {
  readonly name: string;
  readonly connection: Connection;
}

/** The profile that is named; else the one for this address, or the usual one where none is given. */
function profileFor(wish: Wish, profiles: Profiles, file: string): Found | null {
  if (isComplete(wish)) return null;
  const { url, profile } = wish;
  // Comparing sends nothing: whether http may be used is asked later.
  const base = url === undefined ? null : baseAddress(url, true);
  const isForIt = (connection: Connection) => base === null || baseAddress(connection.url, true) === base;
  if (profile !== undefined) {
    const connection = profileNamed(profiles, profile, file);
    if (isForIt(connection)) return { name: profile, connection };
    throw fault("usage", {
      reason: `the profile ${profile} is for ${connection.url}, but --url or GEOFERRY_URL says ${url}: leave one of them away`,
    });
  }
  const usual = profiles.get(usualProfile);
  if (usual && isForIt(usual)) return { name: usualProfile, connection: usual };
  if (base === null) return null;
  const fitting = [...profiles].filter(([, connection]) => isForIt(connection));
  if (fitting.length > 1) {
    const names = fitting.map(([name]) => name).join(", ");
    throw fault("usage", { reason: `several profiles are for ${url}: ${names}; choose one with --profile` });
  }
  const [only] = fitting;
  return only ? { name: only[0], connection: only[1] } : null;
}

const otherProfiles = (profiles: Profiles): string =>
  profiles.size === 0
    ? "none is named"
    : `none is named, and there is no profile ${usualProfile}; --profile takes one of ${[...profiles.keys()].join(", ")}`;
