import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll } from "vitest";
import { freePort } from "./free-port.js";

/** A separate database for a test file, deleted afterwards. */
export interface TestDatabase {
  readonly url: string;
  /** URL of a new empty schema, which is created faster than a database. */
  emptySchema(): Promise<string>;
}

interface Server {
  /** A database from which others can be created. */
  readonly url: string;
  stop(): Promise<void>;
}

/** An existing server, whose URL may be printed. */
const defaultServerUrl = process.env.GEOFERRY_TEST_POSTGRES ?? "postgres://postgres@127.0.0.1:5432/test";

/**
 * Uses the existing server, or starts one from installed binaries. Null, with a warning, if there is neither; an error
 * in CI. Call it at the top of a test file.
 */
export async function testDatabase(): Promise<TestDatabase | null> {
  const server = (await isReachable(defaultServerUrl))
    ? { url: defaultServerUrl, stop: async () => undefined }
    : await startServer();
  if (!server) {
    const missing = `there is no PostgreSQL at ${defaultServerUrl} (GEOFERRY_TEST_POSTGRES), nor are its binaries installed`;
    if (process.env.CI) throw new Error(`${missing}; install the package postgresql`);
    console.warn(`NOT TESTED: ${missing}, so the service is not tested on it`);
    return null;
  }
  const name = `geoferry_test_${randomUUID().replaceAll("-", "")}`;
  await execute(server.url, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  afterAll(async () => {
    await execute(server.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await server.stop();
  });
  const url = withPath(server.url, name);
  let schemas = 0;
  return {
    url,
    async emptySchema() {
      const schema = `s${schemas++}`;
      await execute(url, `CREATE SCHEMA ${schema}`);
      return `${url}${url.includes("?") ? "&" : "?"}options=${encodeURIComponent(`-c search_path=${schema}`)}`;
    },
  };
}

const withPath = (url: string, database: string): string => url.replace(/\/[^/?]*(?=$|\?)/, `/${database}`);

export async function execute<Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

const isReachable = (url: string): Promise<boolean> =>
  execute(url, "SELECT 1").then(
    () => true,
    () => false,
  );

/** Folders of PostgreSQL binaries on Debian; otherwise those of PATH. */
function findBinaries(): string | undefined {
  const versions = "/usr/lib/postgresql";
  const installed = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...installed.map((version) => join(versions, version, "bin")),
    ...(process.env.PATH ?? "").split(":"),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

/** PostgreSQL refuses to run as root. */
function unprivilegedUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  for (const user of ["postgres", "nobody"]) {
    try {
      const id = (what: "-u" | "-g") => Number(execFileSync("id", [what, user], { stdio: "pipe", encoding: "utf8" }));
      return { uid: id("-u"), gid: id("-g") };
    } catch {}
  }
  return {};
}

/**
 * Starts a server that listens only on a socket in a temporary folder and does not sync to disk. It accepts all users,
 * except as configured by `rules`, lines of its pg_hba.conf.
 */
export async function startServer(rules: readonly string[] = []): Promise<Server | null> {
  const programs = findBinaries();
  if (!programs) return null;
  const folder = mkdtempSync(join(tmpdir(), "geoferry-postgres-"));
  const owner = unprivilegedUser();
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid!);
  const data = join(folder, "data");
  const run = { ...owner, cwd: folder, env: { PATH: process.env.PATH } } as const;
  execFileSync(
    join(programs, "initdb"),
    ["--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync"],
    { ...run, stdio: "pipe" },
  );
  const access = join(data, "pg_hba.conf");
  writeFileSync(access, [...rules, readFileSync(access, "utf8")].join("\n"));
  const server = spawn(
    join(programs, "postgres"),
    ["-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
    { ...run, stdio: "ignore" },
  );
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", () => {
    if (server.kill("SIGQUIT")) remove();
  });
  const url = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(folder)}`;
  await untilReady(url, server);
  return {
    url,
    async stop() {
      const ended = once(server, "exit");
      // Fast shutdown: disconnects clients.
      server.kill("SIGINT");
      await ended;
      remove();
    },
  };
}

/** A primary and a streaming standby, which listen on ports of their own. */
export interface ReplicatedServers {
  readonly primary: string;
  readonly standby: string;
  /** Ends the primary at once, as when its machine fails. */
  killPrimary(): Promise<void>;
  promote(): Promise<void>;
  stop(): Promise<void>;
}

export async function startReplicatedServers(): Promise<ReplicatedServers | null> {
  const programs = findBinaries();
  if (!programs) return null;
  const folder = mkdtempSync(join(tmpdir(), "geoferry-postgres-"));
  const owner = unprivilegedUser();
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid!);
  const run = { ...owner, cwd: folder, env: { PATH: process.env.PATH } } as const;
  const execute = (program: string, ...args: readonly string[]) =>
    execFileSync(join(programs, program), args, { ...run, stdio: "pipe" });
  const servers: ChildProcess[] = [];
  const start = async (data: string, port: number): Promise<string> => {
    const settings = [`port=${port}`, "listen_addresses=127.0.0.1", "fsync=off", "hot_standby=on"];
    const args = ["-D", data, "-k", folder, ...settings.flatMap((setting) => ["-c", setting])];
    const server = spawn(join(programs, "postgres"), args, { ...run, stdio: "ignore" });
    servers.push(server);
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
    await untilReady(url, server);
    return url;
  };
  const [one, two] = [join(folder, "one"), join(folder, "two")];
  execute("initdb", "--pgdata", one, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--no-sync");
  const [onePort, twoPort] = [await freePort(), await freePort()];
  const primary = await start(one, onePort);
  const from = ["-h", "127.0.0.1", "-p", String(onePort), "-U", "postgres"];
  execute("pg_basebackup", ...from, "--pgdata", two, "--write-recovery-conf", "--checkpoint=fast", "--no-sync");
  const standby = await start(two, twoPort);
  const end = async (server: ChildProcess, signal: NodeJS.Signals) => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    server.kill(signal);
    await ended;
  };
  return {
    ...{ primary, standby },
    killPrimary: () => end(servers[0]!, "SIGQUIT"),
    promote: async () => {
      execute("pg_ctl", "promote", "--pgdata", two, "--wait");
    },
    async stop() {
      for (const server of servers) await end(server, "SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (server.exitCode !== null) break;
    if (await isReachable(url)) return;
    await sleep(100);
  }
  throw new Error("PostgreSQL was started but does not answer");
}
