/** Which Map Features Service a command talks to, as whom, and how fast. */
import { fault } from "../errors.js";
import { network } from "../network.js";
import type { ChosenConnection, Wish } from "../remote/choose-connection.js";
import { type ServiceClient, type Traffic, usualTraffic } from "../remote/map-client.js";
import type { CommonArguments, Flag } from "./command.js";
import type { NetworkArguments } from "./network-options.js";
import { interrupted } from "./signals.js";
import { text } from "./source-options.js";
import { numberOf, wholeNumber } from "./values.js";

export interface TrafficArguments extends NetworkArguments {
  readonly rate?: string;
  readonly concurrency?: string;
}

export interface ServiceArguments extends CommonArguments, TrafficArguments {
  readonly url?: string;
  readonly profile?: string;
  readonly insecureHttp?: boolean;
  /** Of a job file: no flag gives them. */
  readonly credentials?: Pick<Wish, "clientId" | "clientSecret">;
}

export const trafficOptions = {
  rate: { ...text, describe: "Most requests a second", defaultDescription: "as many as there are answers" },
  concurrency: { ...text, describe: "Most requests at a time", defaultDescription: String(usualTraffic.concurrency) },
} as const satisfies Readonly<Record<string, Flag>>;

export const insecureHttp = {
  type: "boolean",
  describe: "Let secrets cross the network without https",
} as const satisfies Flag;

export const serviceOptions = {
  url: {
    ...text,
    describe:
      "Address of the service; credentials come from GEOFERRY_CLIENT_ID and GEOFERRY_CLIENT_SECRET, or a profile",
  },
  profile: {
    ...text,
    takes: "profile",
    describe: "What geoferry login kept under this name",
    defaultDescription: "default",
  },
  "insecure-http": insecureHttp,
  ...trafficOptions,
} as const satisfies Readonly<Record<string, Flag>>;

/** With the settings of the network that hold here. @throws option-invalid */
export function trafficFrom(args: TrafficArguments): Traffic {
  const rate = numberOf("--rate", args.rate, 0, false) ?? usualTraffic.rate;
  if (rate === 0)
    throw fault("option-invalid", { option: "--rate", value: args.rate!, expected: "a number of requests above 0" });
  return {
    ...network(),
    rate,
    concurrency: wholeNumber("--concurrency", args.concurrency, 1) ?? usualTraffic.concurrency,
  };
}

/** Variables of the environment that no flag stands for: secrets are on no command line. */
export function wishFrom(args: ServiceArguments, environment: NodeJS.ProcessEnv): Wish {
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
async function chosen(wish: Wish, environment: NodeJS.ProcessEnv): Promise<ChosenConnection> {
  const { chooseConnection, isComplete } = await import("../remote/choose-connection.js");
  const { profilesFile, readProfiles } = await import("../remote/profile.js");
  const file = profilesFile(environment);
  return chooseConnection(wish, isComplete(wish) ? new Map() : await readProfiles(file), file);
}

/** @throws remote-unknown, remote-profile, remote-address, usage */
export const connectionFrom = (args: ServiceArguments, environment: NodeJS.ProcessEnv): Promise<ChosenConnection> =>
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
export async function serviceFrom(args: ServiceArguments, signal: AbortSignal = interrupted): Promise<ServiceClient> {
  const traffic = trafficFrom(args);
  const connection = await connectionFrom(args, process.env);
  const { openService } = await import("../remote/service.js");
  return openService(connection, traffic, signal);
}
