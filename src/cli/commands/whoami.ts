/** `geoferry whoami`: shows service and account after checking the credentials. */

import { escapeControlCharacters } from "../../escape-control-characters.js";
import type { ResolvedConnection } from "../../remote/connection/resolve-connection.js";
import type { Command } from "../command.js";
import { networkOptions } from "../options/network-options.js";
import { openService, type ServiceArguments, serviceOptions } from "../options/service-options.js";
import { printResult } from "../output/print.js";

export const whoamiCommand: Command<ServiceArguments> = {
  usage: "whoami",
  summary: "Show the service and the account in use, or fail if the credentials are wrong",
  positionals: {},
  options: { ...serviceOptions, ...networkOptions },
  examples: [["whoami --profile test --json", 'print {"url":"…","client_id":"…","profile":"test","account":"…"}']],
  async run(args) {
    const { service, connection } = await openService(args);
    await service.signIn();
    // The interface does not expose the account of credentials, but maps have an owner.
    const account = (await service.maps())?.[0]?.owner.email ?? null;
    const { clientId, profile } = connection;
    printResult(
      args,
      { url: service.url, client_id: clientId, profile, account },
      describe(service.url, connection, account),
    );
    return 0;
  },
};

function describe(url: string, { clientId, profile }: ResolvedConnection, account: string | null): string {
  const from = profile === null ? "from the environment" : `profile ${profile}`;
  const named = account === null ? "" : `, account ${account}`;
  return escapeControlCharacters(`${url}  ${clientId}  (${from}${named})`);
}
