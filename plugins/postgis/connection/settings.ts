import { existsSync, readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { networkSettings } from "../../../src/network-settings.js";
import { createError } from "../../../src/plugin/index.js";
import { type ConnectionKeywords, parseAddress } from "./address.js";
import { readService } from "./service-file.js";

/** A server and the TLS modes to try, in order. */
export interface ServerSettings {
  readonly host: string;
  readonly port: number;
  /** TLS modes in order of preference; false is plain text. */
  readonly tls: readonly (ConnectionOptions | false)[];
}

export interface ConnectionSettings {
  readonly servers: readonly ServerSettings[];
  readonly user: string;
  readonly database: string;
  /** From a service file; undefined: PGPASSWORD and password files apply. */
  readonly password: string | undefined;
  /** In seconds. */
  readonly connectTimeout: number;
  readonly options: string | undefined;
  readonly applicationName: string;
  /** Prepended to the search path. */
  readonly activeSchema: string | undefined;
}

/** Environment variables of libpq (PostgreSQL, "Environment Variables"). */
const environmentVariables: Readonly<Record<string, string>> = {
  host: "PGHOST",
  hostaddr: "PGHOSTADDR",
  port: "PGPORT",
  dbname: "PGDATABASE",
  user: "PGUSER",
  connect_timeout: "PGCONNECT_TIMEOUT",
  options: "PGOPTIONS",
  application_name: "PGAPPNAME",
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
};

const defaultPort = "5432";

/** Folders of local sockets: Debian's default and PostgreSQL's. */
const socketFolders = ["/var/run/postgresql", "/tmp"];

/**
 * Resolves settings in libpq's order: address, service file, environment, defaults.
 * @throws usage
 */
export function resolveSettings(address: string, environment: NodeJS.ProcessEnv): ConnectionSettings {
  const said = parseAddress(address);
  const service = said.get("service") ?? environment.PGSERVICE;
  const inFile: ConnectionKeywords = service === undefined ? new Map() : readService(service, environment);
  const wanted = (key: string): string | undefined => {
    const variable = environmentVariables[key];
    return said.get(key) ?? inFile.get(key) ?? ((variable && environment[variable]) || undefined);
  };
  const user = wanted("user") ?? userInfo().username;
  return {
    servers: resolveServers(wanted),
    user,
    database: wanted("dbname") ?? user,
    password: inFile.get("password"),
    connectTimeout:
      parseWholeNumber("connect_timeout", wanted("connect_timeout")) ?? networkSettings().connectTimeout / 1000,
    options: wanted("options"),
    applicationName: wanted("application_name") ?? wanted("fallback_application_name") ?? "geoferry",
    activeSchema: said.get("active_schema"),
  };
}

type LookUpSetting = (key: string) => string | undefined;

function parseWholeNumber(key: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65535)
    throw createError("usage", { reason: `invalid database address: ${key}=${text} is not a valid number` });
  return value;
}

function resolveServers(wanted: LookUpSetting): ServerSettings[] {
  const hosts = (wanted("host") ?? "").split(",");
  const addresses = wanted("hostaddr")?.split(",") ?? [];
  const ports = (wanted("port") ?? defaultPort).split(",");
  return hosts.map((host, n) => {
    const port = parseWholeNumber("port", (ports.length === 1 ? ports[0] : ports[n]) || defaultPort)!;
    const at = addresses[n] || host || findLocalSocket(port);
    return { host: at, port, tls: at.startsWith("/") ? [false] : resolveTlsModes(wanted) };
  });
}

const findLocalSocket = (port: number): string =>
  socketFolders.find((folder) => existsSync(join(folder, `.s.PGSQL.${port}`))) ?? "localhost";

/** TLS modes of `sslmode` (PostgreSQL, "SSL Support"). */
function resolveTlsModes(wanted: LookUpSetting): ServerSettings["tls"] {
  const mode = wanted("sslmode") ?? "prefer";
  if (mode === "disable") return [false];
  const root = readAuthority(wanted("sslrootcert"));
  const own = {
    ...readTlsFile("cert", wanted("sslcert"), "postgresql.crt"),
    ...readTlsFile("key", wanted("sslkey"), "postgresql.key"),
  };
  const unchecked: ConnectionOptions = { rejectUnauthorized: false, ...own };
  const checked: ConnectionOptions = { rejectUnauthorized: true, ...root, ...own };
  const anyName: ConnectionOptions = { ...checked, checkServerIdentity: () => undefined };
  switch (mode) {
    case "allow":
      return [false, unchecked];
    case "prefer":
      return [unchecked, false];
    case "require":
      return [wanted("sslrootcert") === undefined ? unchecked : anyName];
    case "verify-ca":
      return [anyName];
    case "verify-full":
      return [checked];
    default:
      throw createError("usage", {
        reason: `invalid sslmode=${mode}; use disable, allow, prefer, require, verify-ca or verify-full`,
      });
  }
}

/** `system`, and no file, mean the certificate authorities of Node.js. */
const readAuthority = (file: string | undefined): ConnectionOptions =>
  file === "system" ? {} : readTlsFile("ca", file, "root.crt");

/** A file named explicitly must exist; the default in ~/.postgresql is optional. */
function readTlsFile(member: "ca" | "cert" | "key", named: string | undefined, usual: string): ConnectionOptions {
  const path = named ?? join(homedir(), ".postgresql", usual);
  if (named === undefined && !existsSync(path)) return {};
  try {
    return { [member]: readFileSync(path, "utf8") };
  } catch (error) {
    throw createError("usage", { reason: `cannot read the TLS file ${path}: ${(error as Error).message}` }, error);
  }
}
