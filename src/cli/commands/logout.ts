/** `geoferry logout`: deletes a saved profile. */
import type { Command, CommonArguments } from "../command.js";
import { printNotice, printResult } from "../output/print.js";

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
      describe: "Name of the profile",
      defaultDescription: "default",
    },
  },
  examples: [["logout --profile test", "delete one profile and keep the others"]],
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
    if (args.json) printResult(args, { url, client_id: clientId, profile: name, file }, "");
    printNotice(args, `${file}: deleted profile ${name}; ${clientId} remains valid until it is revoked at ${url}`);
    return 0;
  },
};
