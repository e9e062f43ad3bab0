/** Maps as inputs of commands. */
import type { ReadMapInput } from "../../pipeline/request.js";
import type { ServiceClient } from "../../remote/client/map-client.js";
import { type Flag, grouped } from "../options/flag.js";
import { networkOptions } from "../options/network-options.js";
import { type ServiceArguments, serviceFrom, serviceOptions } from "../options/service-options.js";

export interface MapInputArguments extends ServiceArguments {
  readonly singleRead?: boolean;
}

export const mapInputOptions = {
  ...grouped("Service, for map:ID:", {
    ...serviceOptions,
    "single-read": {
      type: "boolean",
      describe: "Read a map once, without a second read to detect concurrent writes",
    },
  } as const satisfies Readonly<Record<string, Flag>>),
  ...networkOptions,
};

/** Reads `map:ID` and `map:NAME`. The client is created for the first map, so other inputs need no credentials. */
export function mapReader(args: MapInputArguments): ReadMapInput {
  /** One client for each signal, since the steps of a job have different ones. */
  const services = new WeakMap<AbortSignal, Promise<ServiceClient>>();
  return async (question) => {
    const { signal } = question;
    const service = services.get(signal) ?? serviceFrom(args, signal);
    services.set(signal, service);
    // Awaited first: an unhandled rejection would end the process.
    const client = await service;
    const { readMapInput } = await import("../../remote/snapshot/map-input.js");
    const { resolveMapId } = await import("../../remote/client/resolve-map-id.js");
    return readMapInput(client.map(await resolveMapId(client, question.id)), question, {
      singleRead: args.singleRead ?? false,
    });
  };
}
