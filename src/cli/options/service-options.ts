/** Which Map Features Service a command talks to, as whom, and how fast. */
import { createError } from "../../errors.js";
import { type NetworkSettings, networkSettings } from "../../network-settings.js";
import { defaultTraffic, type ServiceClient, type Traffic } from "../../remote/client/map-client.js";
import type { ResolvedConnection, ServiceConnectionOptions } from "../../remote/connection/resolve-connection.js";
import type { CommonArguments, Flag } from "../command.js";
import { numberOf, wholeNumber } from "../parse/values.js";
import { interrupted } from "../signals.js";
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
  /** Of a job file: no flag gives them. */
  readonly credentials?: Pick<ServiceConnectionOptions, "clientId" | "clientSecret">;
}

export const trafficOptions = {
  rate: { ...text, describe: "Maximum requests per second", defaultDescription: "unlimited" },
  concurrency: {
    ...text,
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
    ...text,
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

/** With the settings of the network that hold here. @param kept those of a profile @throws option-invalid */
export function trafficFrom(args: TrafficArguments, kept?: Partial<NetworkSettings>): Traffic {
  const rate = numberOf("--rate", args.rate, 0, false) ?? defaultTraffic.rate;
  if (rate === 0)
    throw createError("option-invalid", {
      option: "--rate",
      value: args.rate!,
      expected: "a number of requests above 0",
    });
  return {
    ...networkSettings(kept),
    rate,
    concurrency: wholeNumber("--concurrency", args.concurrency, 1) ?? defaultTraffic.concurrency,
  };
}

/** Variables of the environment that no flag stands for: secrets are on no command line. */
export function wishFrom(args: ServiceArguments, environment: NodeJS.ProcessEnv): ServiceConnectionOptions {
  const of = (name: string) => environment[`GEOFERRY_${name}`] || undefined;
  const fromEnvironment = { clientId: of("CLIENT_ID"), clientSecret: of("CLIENT_SECRET") };
  const isSet = Object.values(fromEnvironment).some((value) => value !== undefined);
  return {
    url: args.url,
    profile: args.profile,
    insecureHttp: args.insecureHttp,
    ...(isSet ? fromEnvironment : args.credentials),
    apiPath: of("API_PATH"),
    tokenPath: of("TOKEN_PATH"),
  };
}

/** Profiles are read where the wish leaves something open. */
async function chosen(wish: ServiceConnectionOptions, environment: NodeJS.ProcessEnv): Promise<ResolvedConnection> {
  const { resolveConnection, hasUrlAndCredentials } = await import("../../remote/connection/resolve-connection.js");
  const { profilesPath, readProfiles } = await import("../../remote/connection/profiles.js");
  const file = profilesPath(environment);
  return resolveConnection(wish, hasUrlAndCredentials(wish) ? new Map() : await readProfiles(file), file);
}

/** @throws remote-unknown, remote-profile, remote-address, usage */
export const connectionFrom = (args: ServiceArguments, environment: NodeJS.ProcessEnv): Promise<ResolvedConnection> =>
  chosen(wishFrom(args, environment), environment);

/**
 * Where it is, for those who need no credentials since others write to it.
 * @throws remote-unknown, remote-profile, remote-address, usage
 */
export async function serviceAddressFrom(
  args: ServiceArguments,
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly url: string; readonly insecureHttp: boolean }> {
  const wish = wishFrom(args, environment);
  const unneeded = { clientId: "unneeded", clientSecret: "unneeded" };
  const known = wish.clientId === undefined ? { ...wish, ...unneeded } : wish;
  const { url, insecureHttp: insecure } = await chosen(known, environment);
  return { url, insecureHttp: insecure ?? false };
}

/**
 * The service that a command is about. Nothing is sent yet.
 * @param signal ends reads and waiting
 * @throws option-invalid, remote-unknown, remote-profile, remote-address, remote-insecure, usage
 */
export const serviceFrom = async (args: ServiceArguments, signal?: AbortSignal): Promise<ServiceClient> =>
  (await servedFrom(args, signal)).service;

/** The same, with how requests are sent to it, which the profile has a say in. */
export async function servedFrom(
  args: ServiceArguments,
  signal: AbortSignal = interrupted,
): Promise<{ readonly service: ServiceClient; readonly traffic: Traffic; readonly connection: ResolvedConnection }> {
  // What is wrong with the command line is said first.
  trafficFrom(args);
  const connection = await connectionFrom(args, process.env);
  const traffic = trafficFrom(args, connection.network);
  const { createServiceClient } = await import("../../remote/client/service-client.js");
  return { service: createServiceClient(connection, traffic, signal), traffic, connection };
}
