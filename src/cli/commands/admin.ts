/** `geoferry admin`: manages accounts, maps and credentials of a service, also while it runs. */
import type { Admin } from "../../service/admin.js";
import type { Command } from "../command.js";
import { takes } from "../options/flag.js";
import { type StoreArguments, storeLocation, storeOptions } from "../options/store-location.js";
import { describeMap, printNotice, printResult } from "../output/print.js";
import { readPassword } from "../password.js";

interface UserArguments extends StoreArguments {
  readonly email: string;
}
interface UserAddArguments extends UserArguments {
  readonly name?: string;
}
interface UserSetNameArguments extends UserArguments {
  readonly name: string;
}
interface OwnerArguments extends StoreArguments {
  readonly owner: string;
}
interface MapAddArguments extends OwnerArguments {
  readonly name: string;
  readonly public?: boolean;
}
interface MapRemoveArguments extends StoreArguments {
  readonly id: string;
  readonly withFeatures?: boolean;
}
interface CredentialAddArguments extends OwnerArguments {
  readonly name?: string;
}
interface CredentialRevokeArguments extends StoreArguments {
  readonly client: string;
}

/** Opens the store, which `make` creates if necessary. */
async function withAdmin(
  args: StoreArguments,
  act: (admin: Admin) => Promise<void>,
  make: "make" | undefined = undefined,
): Promise<number> {
  const location = storeLocation(args, process.env);
  const { Admin } = await import("../../service/admin.js");
  const admin = await Admin.open(location, make === "make");
  try {
    await act(admin);
  } finally {
    await admin[Symbol.asyncDispose]();
  }
  return 0;
}

const toIsoTime = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

const owner = {
  ...takes("EMAIL"),
  describe: "Email of the owner's account",
  demandOption: true,
} as const;
const ownerFilter = {
  ...takes("EMAIL"),
  describe: "List only entries of the account with this email",
} as const;
const email = { type: "string", accepts: [], describe: "EMAIL of the account", demandOption: true } as const;

const userAdd: Command<UserAddArguments> = {
  usage: "admin user add <email>",
  summary: "Add an account, with the password from stdin",
  positionals: { email },
  options: {
    ...storeOptions,
    name: { ...takes("NAME"), accepts: [], describe: "Display name that other accounts see" },
  },
  examples: [["admin user add ada@example.org --data maps < password.txt", "read the password from a file"]],
  async run(args) {
    const password = await readPassword();
    return withAdmin(
      args,
      async (admin) => {
        const { id, email } = await admin.addAccount(args.email, password, args.name);
        if (args.json) printResult(args, { id, email }, "");
        printNotice(args, `${admin.place}: created account ${email}`);
      },
      "make",
    );
  },
};

const userList: Command<StoreArguments> = {
  usage: "admin user list",
  summary: "List the accounts",
  positionals: {},
  options: storeOptions,
  examples: [["admin user list --data maps", "list one account per line"]],
  run: (args) =>
    withAdmin(args, async (admin) => {
      for (const { id, email, name, created } of await admin.accounts()) {
        const shown = name === "" ? "" : `  (${name})`;
        printResult(
          args,
          { id, email, name, created: toIsoTime(created) },
          `${email}${shown}  since ${toIsoTime(created)}`,
        );
      }
    }),
};

const userSetPassword: Command<UserArguments> = {
  usage: "admin user set-password <email>",
  summary: "Set the password of an account to the one from stdin, and end all its sessions",
  positionals: { email },
  options: storeOptions,
  examples: [["admin user set-password ada@example.org --data maps", "prompt for the password on a terminal"]],
  async run(args) {
    const password = await readPassword();
    return withAdmin(args, async (admin) => {
      await admin.setPassword(args.email, password);
      printNotice(args, `${admin.place}: changed the password of ${args.email} and ended all its sessions`);
    });
  },
};

const userSetName: Command<UserSetNameArguments> = {
  usage: "admin user set-name <email>",
  summary: "Set the display name of an account, shown to other accounts as the owner of its maps",
  positionals: { email },
  options: {
    ...storeOptions,
    name: {
      ...takes("NAME"),
      accepts: [],
      describe: 'Display name; "" removes it',
      demandOption: true,
    },
  },
  examples: [
    [
      'admin user set-name ada@example.org --name "Ada, Parks" --data maps',
      "show other accounts the name instead of the email",
    ],
  ],
  run: (args) =>
    withAdmin(args, async (admin) => {
      await admin.setName(args.email, args.name);
      printNotice(
        args,
        `${admin.place}: ${args.email} ${args.name === "" ? "has no display name" : `has the display name ${args.name}`}`,
      );
    }),
};

const mapAdd: Command<MapAddArguments> = {
  usage: "admin map add <name>",
  summary: "Add a map, and print its id",
  positionals: { name: { type: "string", accepts: [], describe: "NAME of the map", demandOption: true } },
  options: {
    ...storeOptions,
    owner,
    public: { type: "boolean", describe: "Let every account read the map; by default only its owner can" },
  },
  examples: [["admin map add Parks --owner ada@example.org --data maps --json", 'print {"id":"…"}']],
  run: (args) =>
    withAdmin(args, async (admin) => {
      const id = await admin.addMap(args.name, args.owner, !(args.public ?? false));
      printResult(args, { id }, id);
    }),
};

const mapList: Command<StoreArguments & { readonly owner?: string }> = {
  usage: "admin map list",
  summary: "List the maps",
  positionals: {},
  options: { ...storeOptions, owner: ownerFilter },
  examples: [["admin map list --owner ada@example.org --data maps", "list the maps of one account"]],
  run: (args) =>
    withAdmin(args, async (admin) => {
      for (const map of await admin.maps(args.owner ?? null)) {
        const { id, name, ownerEmail, features, revision, created } = map;
        const record = {
          id,
          name,
          owner: ownerEmail,
          private: map.private,
          features,
          revision,
          created: toIsoTime(created),
        };
        printResult(args, record, describeMap(record));
      }
    }),
};

const mapRemove: Command<MapRemoveArguments> = {
  usage: "admin map remove <id>",
  summary: "Remove a map",
  positionals: { id: { type: "string", accepts: [], describe: "ID of the map", demandOption: true } },
  options: {
    ...storeOptions,
    "with-features": { type: "boolean", describe: "Remove the map even if it has features, and delete them" },
  },
  examples: [["admin map remove 0192d3f0-6f0a-7c6e-8f4a-1b2c3d4e5f60 --data maps", "remove an empty map"]],
  run: (args) =>
    withAdmin(args, async (admin) => {
      const { name, features } = await admin.removeMap(args.id, args.withFeatures ?? false);
      if (args.json) printResult(args, { id: args.id, name, features }, "");
      printNotice(args, `${admin.place}: removed map ${name}${features > 0 ? ` with ${features} features` : ""}`);
    }),
};

const credentialAdd: Command<CredentialAddArguments> = {
  usage: "admin credential add",
  summary: "Create a client id with a secret, which is shown once",
  positionals: {},
  options: {
    ...storeOptions,
    owner,
    name: {
      ...takes("NAME"),
      describe: "Label, such as the purpose of the credential",
      defaultDescription: "geoferry admin",
    },
  },
  examples: [
    ["admin credential add --owner ada@example.org --data maps --json", 'print {"client_id":"…","client_secret":"…"}'],
  ],
  run: (args) =>
    withAdmin(args, async (admin) => {
      const { clientId, clientSecret } = await admin.addCredential(args.owner, args.name ?? "geoferry admin");
      const record = { client_id: clientId, client_secret: clientSecret };
      printResult(args, record, `client_id=${clientId}\nclient_secret=${clientSecret}`);
      printNotice(args, "Store the secret now; it is not shown again.");
    }),
};

const credentialList: Command<StoreArguments & { readonly owner?: string }> = {
  usage: "admin credential list",
  summary: "List the credentials, without their secrets",
  positionals: {},
  options: { ...storeOptions, owner: ownerFilter },
  examples: [["admin credential list --data maps", "list the newest first"]],
  run: (args) =>
    withAdmin(args, async (admin) => {
      for (const { clientId, name, email, created, lastUsed, revoked } of await admin.credentials(args.owner ?? null)) {
        const times = { created: toIsoTime(created), lastUsed: toIsoTime(lastUsed), revoked: toIsoTime(revoked) };
        const used = revoked !== null ? `revoked ${times.revoked}` : `last used ${times.lastUsed ?? "never"}`;
        printResult(
          args,
          { client_id: clientId, name, owner: email, ...times },
          `${clientId}  ${name}  (${email}, ${used})`,
        );
      }
    }),
};

const credentialRevoke: Command<CredentialRevokeArguments> = {
  usage: "admin credential revoke <client>",
  summary: "Revoke a credential and its access tokens",
  positionals: { client: { type: "string", accepts: [], describe: "CLIENT id", demandOption: true } },
  options: storeOptions,
  examples: [["admin credential revoke gfc_jx1f0… --data maps", "revoke it with immediate effect"]],
  run: (args) =>
    withAdmin(args, async (admin) => {
      const revoked = await admin.revokeCredential(args.client);
      if (args.json) printResult(args, { client_id: args.client, revoked }, "");
      printNotice(args, `${admin.place}: ${revoked ? `revoked ${args.client}` : `${args.client} was already revoked`}`);
    }),
};

export const userCommands = {
  "admin user add": userAdd,
  "admin user list": userList,
  "admin user set-name": userSetName,
  "admin user set-password": userSetPassword,
};
export const mapCommands = { "admin map add": mapAdd, "admin map list": mapList, "admin map remove": mapRemove };
export const credentialCommands = {
  "admin credential add": credentialAdd,
  "admin credential list": credentialList,
  "admin credential revoke": credentialRevoke,
};
