/** `geoferry logout`: forgets the credentials of a service. */
import type { Command, CommonArguments } from "../command.js";
import { give, tell } from "../output/print.js";

interface LogoutArguments extends CommonArguments {
  readonly profile?: string;
}

export const logoutCommand: Command<LogoutArguments> = {
  usage: "logout",
  summary: "Delete a saved profile",
  positionals: {},
  options: {
    profile: {
      type: "string",
      requiresArg: true,
      accepts: "profile",
      describe: "Profile name",
      defaultDescription: "default",
    },
  },
  examples: [["logout --profile test", "the others are kept"]],
  async run(args) {
    const { getProfile, profilesPath, readProfiles, defaultProfile, writeProfiles } = await import(
      "../../remote/connection/profiles.js"
    );
    const name = args.profile ?? defaultProfile;
    const file = profilesPath(process.env);
    const profiles = new Map(await readProfiles(file));
    const { url, clientId } = getProfile(profiles, name, file);
    profiles.delete(name);
    await writeProfiles(file, profiles);
    if (args.json) give(args, { url, client_id: clientId, profile: name, file }, "");
    tell(args, `${file}: profile ${name} is gone; ${clientId} goes on to work until ${url} is told to revoke it`);
    return 0;
  },
};
