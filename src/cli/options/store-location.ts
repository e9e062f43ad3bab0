/** Location of the store of `geoferry serve` and `geoferry admin`. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createError } from "../../errors.js";
import type { StoreLocation } from "../../service/store/open-store.js";
import { hostUrls } from "../../service/store/postgres/host-urls.js";
import type { CommonArguments } from "../command.js";
import { takes } from "./flag.js";
import { folder } from "./source-options.js";

export interface StoreArguments extends CommonArguments {
  readonly data?: string;
  readonly database?: string;
}

export const storeOptions = {
  data: {
    ...folder,
    describe: "Folder of the SQLite database",
    defaultDescription: "geoferry in XDG_DATA_HOME",
  },
  database: {
    ...takes("URL"),
    describe: "PostgreSQL database to use: postgres://user@host/name, with the password in PGPASSWORD",
  },
} as const;

/**
 * A database takes precedence over a folder, and flags over the environment.
 * @throws option-invalid, usage
 */
export function storeLocation({ data, database }: StoreArguments, environment: NodeJS.ProcessEnv): StoreLocation {
  const { GEOFERRY_DATA, GEOFERRY_DATABASE } = environment;
  const isTyped = database !== GEOFERRY_DATABASE;
  if (database !== undefined && (isTyped || data === undefined || data === GEOFERRY_DATA))
    return { kind: "database", url: checkDatabase(database, isTyped) };
  if (data !== undefined) return { kind: "folder", path: resolve(data) };
  const home = environment.XDG_DATA_HOME || join(homedir(), ".local", "share");
  return { kind: "folder", path: join(home, "geoferry") };
}

function checkDatabase(text: string, isTyped: boolean): string {
  const urls = hostUrls(text);
  const url = urls.every((one) => URL.canParse(one)) ? new URL(urls[0]!) : null;
  if (!url || !/^postgres(ql)?:\/\//i.test(text)) {
    // Do not print an unparsable address: it may contain a password.
    const value = url ? `${url.protocol}…` : "…";
    throw createError("option-invalid", {
      option: "--database",
      value,
      expected: "of the form postgres://user@host/name",
    });
  }
  const hasPassword = url.password !== "" || url.searchParams.has("password");
  if (hasPassword && isTyped)
    throw createError("usage", {
      reason:
        "--database contains a password, which other processes can read; set PGPASSWORD, or set GEOFERRY_DATABASE to the whole address",
    });
  return text;
}
