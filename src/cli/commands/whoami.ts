/** `geoferry whoami`: which service commands talk to, and as whom, once it is sure that this works. */
import type { ResolvedConnection } from "../../remote/connection/resolve-connection.js";
import type { Command } from "../command.js";
import { networkOptions } from "../options/network-options.js";
import { type ServiceArguments, servedFrom, serviceOptions } from "../options/service-options.js";
import { give } from "../output/print.js";

export const whoamiCommand: Command<ServiceArguments> = {
  usage: "whoami",
  summary: "Show the service and the account in use; fails if the credentials are wrong",
  positionals: {},
  options: { ...serviceOptions, ...networkOptions },
  examples: [["whoami --profile test --json", 'prints {"url":"…","client_id":"…","profile":"test","account":"…"}']],
  async run(args) {
    const { service, connection } = await servedFrom(args);
    await service.signIn();
    // The interface has nothing that tells whose credentials they are; maps have an owner.
    const account = (await service.maps())?.[0]?.owner.email ?? null;
    const { clientId, profile } = connection;
    give(args, { url: service.url, client_id: clientId, profile, account }, describe(service.url, connection, account));
    return 0;
  },
};

function describe(url: string, { clientId, profile }: ResolvedConnection, account: string | null): string {
  const from = profile === null ? "from the environment" : `profile ${profile}`;
  return `${url}  ${clientId}  (${from}${account === null ? "" : `, account ${account}`})`;
}
