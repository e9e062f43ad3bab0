/** The service as a separate process, and commands that tests run on it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { createAccount } from "../../src/service/auth/accounts.js";
import { createCredential } from "../../src/service/auth/credentials.js";
import { createMap } from "../../src/service/maps/map-changes.js";
import { openStore, type StoreLocation } from "../../src/service/store/open-store.js";
import { geoferry, main, root } from "../support/command.js";

export interface ScratchFolder {
  readonly path: string;
  /** A data folder that does not exist yet. */
  data(): string;
}

/** A folder for the tests of a file, deleted after them. */
export function createScratchFolder(): ScratchFolder {
  const path = mkdtempSync(join(tmpdir(), "geoferry-service-"));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  let count = 0;
  return { path, data: () => join(path, `data-${count++}`) };
}

/** The environment without settings of this machine. */
export const cleanEnvironment: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(GEOFERRY_|PG|XDG_)/.test(name)),
);

export class ServiceProcess {
  stdout = "";
  stderr = "";
  readonly exited: Promise<number | null>;

  private constructor(readonly process: ChildProcess) {
    process.stdout!.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
    });
    process.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.exited = once(process, "close").then(([code]) => code as number | null);
    runningServices.add(this);
    void this.exited.then(() => runningServices.delete(this));
  }

  /** Starts on a free port by default, with `--json`; resolves when the service is ready. */
  static async start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<ServiceProcess> {
    const port = args.includes("--port") ? [] : ["--port", "0"];
    const line = [main, "serve", ...port, "--json", ...args];
    const running = new ServiceProcess(
      spawn(process.execPath, line, {
        cwd: root,
        env: { ...cleanEnvironment, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
    const { stdout, stderr } = running.process;
    const isSaid = () => args.includes("--quiet") || running.stderr.includes("geoferry: serving at");
    while (!running.stdout.includes("\n") || !isSaid()) {
      const more = [once(stdout!, "data"), once(stderr!, "data")];
      const ended = await Promise.race([...more, running.exited]);
      if (!Array.isArray(ended)) throw new Error(`the service ended with ${ended}: ${running.stderr}`);
    }
    return running;
  }

  get record(): { readonly url: string; readonly setup?: string; readonly probes?: string } {
    return JSON.parse(this.stdout.split("\n", 1)[0]!);
  }

  get url(): string {
    return this.record.url;
  }

  /** The address it listens on, which may differ from its public one. */
  get listening(): string {
    return this.logs.find(({ msg }) => msg === "started")!.listening as string;
  }

  get logs(): Record<string, unknown>[] {
    const lines = this.stderr.split("\n").filter((line) => line.startsWith("{"));
    return lines.map((line) => JSON.parse(line));
  }

  /** @returns the exit status; null if a signal ended the process */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> {
    this.process.kill(signal);
    return this.exited;
  }
}

const runningServices = new Set<ServiceProcess>();
const killAll = () => Promise.all([...runningServices].map((running) => running.end("SIGKILL")));
afterAll(killAll);
// Where several test files share this module.
process.once("exit", killAll);

/** Runs `geoferry admin`, which must exit with 0. @returns its record */
export function admin(line: string, store: readonly string[], input = ""): Record<string, string> {
  const { status, stdout, stderr } = runAdmin([...line.split(" "), ...store, "--json"], input);
  if (status !== 0) throw new Error(`admin ${line} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout || "{}");
}

export const runAdmin = (line: readonly string[], input = "", env: NodeJS.ProcessEnv = {}) =>
  geoferry(["admin", ...line], { input, env: { ...unsetSettings(), ...env } });

/** Unsets settings of the test environment, which `geoferry` inherits. */
const unsetSettings = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => !Object.hasOwn(cleanEnvironment, name))
      .map((name) => [name, undefined]),
  );

export const password = "three words and a 4";

/** What `hashPassword` makes of `password`, which takes a quarter of a second. */
const passwordHash =
  "$argon2id$v=19$m=19456,t=2,p=1$AAjgQsVxlbsY0enCu5DuTQ$xVt8fHnwqoMWbEoC/NGa7ZmZc5EAEziNShnPcQsWOOM";

/** The location of a store, as flags of `serve` and `admin` have it. */
function locationOf([flag, value]: readonly string[]): StoreLocation {
  return flag === "--database" ? { kind: "database", url: value! } : { kind: "folder", path: value! };
}

export interface AccountWithMap {
  readonly map: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Creates an account with a map and a credential as `geoferry admin` does, without its three processes. */
export async function createAccountWithMap(
  flags: readonly string[],
  email = "ada@example.org",
): Promise<AccountWithMap> {
  await using store = await openStore(locationOf(flags));
  const now = Date.now();
  const { id: account } = (await createAccount(store, { email, passwordHash, now, address: null }))!;
  const map = (await createMap(store, { name: "Parks", private: true }, { account, now, address: null }))!;
  const { credential, clientSecret } = await createCredential(store, { account, name: "test", now, address: null });
  return { map, clientId: credential.clientId, clientSecret };
}

/** @returns an access token */
export async function requestToken(url: string, client: { clientId: string; clientSecret: string }): Promise<string> {
  const answer = await fetch(`${url}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials_with_user",
      client_id: client.clientId,
      client_secret: client.clientSecret,
    }),
  });
  if (!answer.ok) throw new Error(`/token answers ${answer.status}: ${await answer.text()}`);
  const { access_token } = (await answer.json()) as { access_token: string };
  return access_token;
}

export interface ApiResponse {
  readonly status: number;
  readonly body: {
    readonly success?: readonly { readonly id: string }[];
    readonly features?: readonly { id: string }[];
  };
}

/** Creates features on a map. */
export async function postFeatures(url: string, map: string, token: string, count: number): Promise<ApiResponse> {
  const feature = { type: "Feature", geometry: { type: "Point", coordinates: [1, 2] }, properties: { title: "a" } };
  const answer = await fetch(`${url}/api/v1/maps/${map}/features`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ features: Array.from({ length: count }, () => feature) }),
  });
  return { status: answer.status, body: (await answer.json()) as ApiResponse["body"] };
}

/** Ids of all features of a map, page by page. */
export async function readFeatureIds(url: string, map: string, token: string): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const answer = await fetch(`${url}/api/v1/maps/${map}/features?page=${page}&per_page=500`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { features = [] } = (await answer.json()) as ApiResponse["body"];
    ids.push(...features.map(({ id }) => id));
    if (features.length < 500) return ids;
  }
}
