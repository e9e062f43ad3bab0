/** `geoferry login`: saves address and credentials of a service after checking them. */
import { createError } from "../../errors.js";
import type { Connection } from "../../remote/connection/connection.js";
import type { Command, CommonArguments } from "../command.js";
import { takes } from "../options/flag.js";
import { networkOptions, networkSettings } from "../options/network-options.js";
import { insecureHttp, type TrafficArguments, trafficFrom, trafficOptions } from "../options/service-options.js";
import { text } from "../options/source-options.js";
import { printNotice, printResult } from "../output/print.js";
import { readSecret } from "../password.js";
import { interrupted } from "../signals.js";

interface LoginArguments extends CommonArguments, TrafficArguments {
  readonly url?: string;
  readonly clientId?: string;
  readonly profile?: string;
  readonly apiPath?: string;
  readonly tokenPath?: string;
  readonly insecureHttp?: boolean;
}

export const loginCommand: Command<LoginArguments> = {
  usage: "login [url]",
  summary: "Save the address and credentials of a service, with the client secret from stdin",
  positionals: {
    url: { type: "string", accepts: [], describe: "URL of the service; default: the profile's" },
  },
  options: {
    "client-id": { ...takes("ID"), describe: "Client id, from the service's profile page" },
    profile: { ...text, accepts: "profile", describe: "Name of the profile", defaultDescription: "default" },
    "api-path": { ...takes("PATH"), describe: "Path of the API below URL", defaultDescription: "/api/v1" },
    "token-path": { ...takes("PATH"), describe: "Path of the token endpoint below URL", defaultDescription: "/token" },
    "insecure-http": insecureHttp,
    ...trafficOptions,
    ...networkOptions,
  },
  examples: [
    ["login https://maps.example.org --client-id gfc_jx1f0…", "prompt for the secret"],
    ["login http://127.0.0.1:8080 --client-id gfc_jx1f0… --profile test < secret.txt", "save a second service"],
  ],
  async run(args) {
    trafficFrom(args);
    const { checkProfileName, profilesPath, readProfiles, defaultProfile, writeProfiles } = await import(
      "../../remote/connection/profiles.js"
    );
    const name = checkProfileName(args.profile ?? defaultProfile);
    const file = profilesPath(process.env);
    const profiles = await readProfiles(file);
    const before = profiles.get(name);
    const requested = mergeConnection(args, before);
    const { resolveServiceUrls } = await import("../../remote/connection/connection.js");
    const { base } = resolveServiceUrls(requested);
    const connection = { ...requested, url: base, clientSecret: await readSecret("client secret") };
    const { createServiceClient } = await import("../../remote/client/service-client.js");
    await createServiceClient(connection, trafficFrom(args, connection.network), interrupted).signIn();
    await writeProfiles(file, new Map(profiles).set(name, connection));
    if (args.json) printResult(args, { url: base, client_id: connection.clientId, profile: name, file }, "");
    const replaced = before && before.url !== base ? `; it was for ${before.url} before` : "";
    printNotice(args, `${base}: the credentials are valid; saved as profile ${name} in ${file}${replaced}`);
    return 0;
  },
};

/** Members that are not given keep their values. @throws usage */
function mergeConnection(args: LoginArguments, before: Connection | undefined): Omit<Connection, "clientSecret"> {
  const url = args.url ?? (process.env.GEOFERRY_URL || before?.url);
  if (url === undefined)
    throw createError("usage", {
      reason: "login needs the URL of a service: geoferry login https://maps.example.org --client-id ID",
    });
  const same = url === before?.url ? before : undefined;
  const clientId = args.clientId ?? same?.clientId;
  if (clientId === undefined)
    throw createError("usage", {
      reason: `login to ${url} needs --client-id; create a client id and secret on the profile page of the service`,
    });
  const network = { ...same?.network, ...networkSettings(args) };
  const { apiPath = same?.apiPath, tokenPath = same?.tokenPath, insecureHttp = same?.insecureHttp } = args;
  return {
    url,
    clientId,
    ...(apiPath !== undefined && { apiPath }),
    ...(tokenPath !== undefined && { tokenPath }),
    ...(insecureHttp === true && { insecureHttp }),
    ...(Object.keys(network).length > 0 && { network }),
  };
}
