/** `geoferry whoami`: which service commands talk to, and as whom, once it is sure that this works. */
import type { ChosenConnection } from "../../remote/choose-connection.js";
import type { Command } from "../command.js";
import { networkOptions } from "../network-options.js";
import { give } from "../say.js";
import { connectionFrom, type ServiceArguments, serviceOptions, trafficFrom } from "../service-options.js";
import { interrupted } from "../signals.js";

export const whoamiCommand: Command<ServiceArguments> = {
  usage: "whoami",
  summary: "Tell which service is used, and as whom; fails where the credentials are wrong",
  positionals: {},
  options: { ...serviceOptions, ...networkOptions },
  examples: [["whoami --profile test --json", 'prints {"url":"…","client_id":"…","profile":"test","account":"…"}']],
  async run(args) {
    const traffic = trafficFrom(args);
    const connection = await connectionFrom(args, process.env);
    const { openService } = await import("../../remote/service.js");
    const service = openService(connection, traffic, interrupted);
    await service.signIn();
    // The interface has nothing that tells whose credentials they are; maps have an owner.
    const account = (await service.maps())?.[0]?.owner.email ?? null;
    const { clientId, profile } = connection;
    give(args, { url: service.url, client_id: clientId, profile, account }, describe(service.url, connection, account));
    return 0;
  },
};

function describe(url: string, { clientId, profile }: ChosenConnection, account: string | null): string {
  const from = profile === null ? "from the environment" : `profile ${profile}`;
  return `${url}  ${clientId}  (${from}${account === null ? "" : `, account ${account}`})`;
}
