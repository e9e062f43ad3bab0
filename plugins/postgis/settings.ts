import { existsSync, readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { network } from "../../src/network.js";
import { fault } from "../../src/plugin/index.js";
import { type Keywords, parseAddress } from "./address.js";
import { serviceKeywords } from "./service-file.js";

/** How a server is asked for a connection: as it is tried, one after the other. */
export interface Server {
  readonly host: string;
  readonly port: number;
  /** Ways of TLS, the best first; false for none. */
  readonly tls: readonly (ConnectionOptions | false)[];
}

export interface Settings {
  readonly servers: readonly Server[];
  readonly user: string;
  readonly database: string;
  /** Of a service file; undefined leaves it to PGPASSWORD and password files. */
  readonly password: string | undefined;
  /** Seconds. */
  readonly connectTimeout: number;
  readonly options: string | undefined;
  readonly applicationName: string;
  /** Goes before the search path. */
  readonly activeSchema: string | undefined;
}

/** Environment variables of libpq (PostgreSQL, "Environment Variables"). */
const variables: Readonly<Record<string, string>> = {
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

const usualPort = "5432";

/** Where servers of this machine have their sockets: Debian's place, and PostgreSQL's own. */
const socketFolders = ["/var/run/postgresql", "/tmp"];

/**
 * What the address says, then the service file, then the environment, then what is usual: as libpq has it.
 * @throws usage
 */
export function settingsOf(address: string, environment: NodeJS.ProcessEnv): Settings {
  const said = parseAddress(address);
  const service = said.get("service") ?? environment.PGSERVICE;
  const inFile: Keywords = service === undefined ? new Map() : serviceKeywords(service, environment);
  const wanted = (key: string): string | undefined => {
    const variable = variables[key];
    return said.get(key) ?? inFile.get(key) ?? ((variable && environment[variable]) || undefined);
  };
  const user = wanted("user") ?? userInfo().username;
  return {
    servers: serversOf(wanted),
    user,
    database: wanted("dbname") ?? user,
    password: inFile.get("password"),
    connectTimeout: wholeNumber("connect_timeout", wanted("connect_timeout")) ?? network().connectTimeout / 1000,
    options: wanted("options"),
    applicationName: wanted("application_name") ?? wanted("fallback_application_name") ?? "geoferry",
    activeSchema: said.get("active_schema"),
  };
}

type Wanted = (key: string) => string | undefined;

function wholeNumber(key: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65535)
    throw fault("usage", { reason: `the address of a database says ${key}=${text}, which is no such number` });
  return value;
}

function serversOf(wanted: Wanted): Server[] {
  const hosts = (wanted("host") ?? "").split(",");
  const addresses = wanted("hostaddr")?.split(",") ?? [];
  const ports = (wanted("port") ?? usualPort).split(",");
  return hosts.map((host, n) => {
    const port = wholeNumber("port", (ports.length === 1 ? ports[0] : ports[n]) || usualPort)!;
    const at = addresses[n] || host || localPlace(port);
    return { host: at, port, tls: at.startsWith("/") ? [false] : waysOfTls(wanted) };
  });
}

const localPlace = (port: number): string =>
  socketFolders.find((folder) => existsSync(join(folder, `.s.PGSQL.${port}`))) ?? "localhost";

/** As `sslmode` asks for them (PostgreSQL, "SSL Support", table of modes). */
function waysOfTls(wanted: Wanted): Server["tls"] {
  const mode = wanted("sslmode") ?? "prefer";
  if (mode === "disable") return [false];
  const root = authority(wanted("sslrootcert"));
  const own = {
    ...fileOf("cert", wanted("sslcert"), "postgresql.crt"),
    ...fileOf("key", wanted("sslkey"), "postgresql.key"),
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
      throw fault("usage", {
        reason: `sslmode=${mode} is none of disable, allow, prefer, require, verify-ca and verify-full`,
      });
  }
}

/** `system` is what Node.js believes, as is no file at all. */
const authority = (file: string | undefined): ConnectionOptions =>
  file === "system" ? {} : fileOf("ca", file, "root.crt");

/** A file that is named must be there; the usual one in ~/.postgresql may be. */
function fileOf(member: "ca" | "cert" | "key", named: string | undefined, usual: string): ConnectionOptions {
  const path = named ?? join(homedir(), ".postgresql", usual);
  if (named === undefined && !existsSync(path)) return {};
  try {
    return { [member]: readFileSync(path, "utf8") };
  } catch (error) {
    throw fault("usage", { reason: `${path}: cannot be read for TLS: ${(error as Error).message}` }, error);
  }
}
