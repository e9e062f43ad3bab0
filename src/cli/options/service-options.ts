/** Address, credentials and request rate for a Map Features Service. */
import { createError } from "../../errors.js";
import { type NetworkSettings, networkSettings } from "../../network-settings.js";
import { defaultTraffic, type ServiceClient, type Traffic } from "../../remote/client/map-client.js";
import type { ResolvedConnection, ServiceConnectionOptions } from "../../remote/connection/resolve-connection.js";
import type { CommonArguments, Flag } from "../command.js";
import { numberOf, wholeNumber } from "../parse/values.js";
import { interrupted } from "../signals.js";
import { takes } from "./flag.js";
import type { NetworkArguments } from "./network-options.js";
import { text } from "./source-options.js";

export interface TrafficArguments extends NetworkArguments {
  readonly rate?: string;
  readonly concurrency?: string;
}

export interface ServiceArguments extends CommonArguments, TrafficArguments {
  readonly url?: string;
  readonly profile?: string;
  readonly insecureHttp?: boolean;
  /** The address in a plan or backup, which applies if no other is given. */
  readonly recordedUrl?: string;
  /** From a job file; there are no flags for them. */
  readonly credentials?: Pick<ServiceConnectionOptions, "clientId" | "clientSecret">;
}

export const trafficOptions = {
  rate: { ...takes("N"), describe: "Maximum requests per second", defaultDescription: "unlimited" },
  concurrency: {
    ...takes("N"),
    describe: "Maximum concurrent requests",
    defaultDescription: String(defaultTraffic.concurrency),
  },
} as const satisfies Readonly<Record<string, Flag>>;

export const insecureHttp = {
  type: "boolean",
  describe: "Allow sending secrets without https",
} as const satisfies Flag;

export const serviceOptions = {
  url: {
    ...takes("URL"),
    describe:
      "Address of the service; credentials come from GEOFERRY_CLIENT_ID and GEOFERRY_CLIENT_SECRET, or a profile",
  },
  profile: {
    ...text,
    accepts: "profile",
    describe: "Profile saved by geoferry login",
    defaultDescription: "default",
  },
  "insecure-http": insecureHttp,
  ...trafficOptions,
} as const satisfies Readonly<Record<string, Flag>>;

/** @param profileSettings network settings of the profile @throws option-invalid */
export function trafficFrom(args: TrafficArguments, profileSettings?: Partial<NetworkSettings>): Traffic {
  const rate = numberOf("--rate", args.rate, 0, false) ?? defaultTraffic.rate;
  if (rate === 0)
    throw createError("option-invalid", {
      option: "--rate",
      value: args.rate!,
      expected: "a number of requests above 0",
    });
  return {
    ...networkSettings(profileSettings),
    rate,
    concurrency: wholeNumber("--concurrency", args.concurrency, 1) ?? defaultTraffic.concurrency,
  };
}

/** Connection settings from flags and environment variables. Secrets have no flags. */
export function connectionOptionsFrom(
  args: ServiceArguments,
  environment: NodeJS.ProcessEnv,
): ServiceConnectionOptions {
  const of = (name: string) => environment[`GEOFERRY_${name}`] || undefined;
  const fromEnvironment = { clientId: of("CLIENT_ID"), clientSecret: of("CLIENT_SECRET") };
  const isSet = Object.values(fromEnvironment).some((value) => value !== undefined);
  return {
    url: args.url,
    recordedUrl: args.recordedUrl,
    profile: args.profile,
    insecureHttp: args.insecureHttp,
    ...(isSet ? fromEnvironment : args.credentials),
    apiPath: of("API_PATH"),
    tokenPath: of("TOKEN_PATH"),
  };
}

/** Completes the options from a profile if URL or credentials are missing. */
async function resolve(options: ServiceConnectionOptions, environment: NodeJS.ProcessEnv): Promise<ResolvedConnection> {
  const { resolveConnection, hasUrlAndCredentials } = await import("../../remote/connection/resolve-connection.js");
  const { profilesPath, readProfiles } = await import("../../remote/connection/profiles.js");
  const file = profilesPath(environment);
  return resolveConnection(options, hasUrlAndCredentials(options) ? new Map() : await readProfiles(file), file);
}

/** @throws remote-unknown, remote-profile, remote-address, usage */
export const connectionFrom = (args: ServiceArguments, environment: NodeJS.ProcessEnv): Promise<ResolvedConnection> =>
  resolve(connectionOptionsFrom(args, environment), environment);

/**
 * The address of the service, without credentials, for runs whose workers write to it.
 * @throws remote-unknown, remote-profile, remote-address, usage
 */
export async function serviceAddressFrom(
  args: ServiceArguments,
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly url: string; readonly insecureHttp: boolean }> {
  const options = connectionOptionsFrom(args, environment);
  const unneeded = { clientId: "unneeded", clientSecret: "unneeded" };
  const complete = options.clientId === undefined ? { ...options, ...unneeded } : options;
  const { url, insecureHttp: insecure } = await resolve(complete, environment);
  return { url, insecureHttp: insecure ?? false };
}

/**
 * Creates the client of the service; sends nothing yet.
 * @param signal aborts requests and waiting
 * @throws option-invalid, remote-unknown, remote-profile, remote-address, remote-insecure, usage
 */
export const serviceFrom = async (args: ServiceArguments, signal?: AbortSignal): Promise<ServiceClient> =>
  (await openService(args, signal)).service;

/** Like `serviceFrom`, also with the traffic settings, which a profile may contain. */
export async function openService(
  args: ServiceArguments,
  signal: AbortSignal = interrupted,
): Promise<{ readonly service: ServiceClient; readonly traffic: Traffic; readonly connection: ResolvedConnection }> {
  // Reports invalid flags before errors of the profile.
  trafficFrom(args);
  const connection = await connectionFrom(args, process.env);
  const traffic = trafficFrom(args, connection.network);
  const { createServiceClient } = await import("../../remote/client/service-client.js");
  return { service: createServiceClient(connection, traffic, signal), traffic, connection };
}
