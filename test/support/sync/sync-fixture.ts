/** A running service with accounts, and geoferry commands that use it, for tests of synchronization. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe } from "vitest";
import type { Geometry } from "../../../src/model/geometry.js";
import { maxFeaturesPerRequest, type Properties, type WireFeature, type WireResult } from "../../../src/remote/wire.js";
import { cleanEnvironment, createAccountWithMap, requestToken, ServiceProcess } from "../../service/service-process.js";
import { type CommandResult, main } from "../command.js";
import { testDatabase } from "../servers/postgres.js";
import { warmCommand } from "../warm-command.js";

/** A feature of a source or a map in tests. */
export interface Place {
  readonly type: "Feature";
  readonly geometry: Geometry | null;
  readonly properties: Properties;
}

/** An account and its credentials. */
export interface Account {
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface CommandOptions {
  /** URL of the service for the command; the fixture's by default. */
  readonly url?: string;
  readonly as?: Account;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** The working directory; the fixture's folder by default. */
  readonly cwd?: string;
  /** Receives the running process. */
  readonly watch?: (child: ReturnType<typeof spawn>) => void;
  /** In a process of its own: for what depends on how a process starts and ends. */
  readonly fresh?: boolean;
}

export class SyncFixture {
  /** For test files and geoferry's state; deleted afterwards. */
  readonly folder = mkdtempSync(join(tmpdir(), "geoferry-sync-"));
  private readonly tokens = new Map<string, Promise<string>>();
  private files = 0;

  private constructor(
    readonly service: ServiceProcess,
    readonly ada: Account,
    readonly bob: Account,
    /** Flags of `admin` with the location of the store. */
    readonly store: readonly string[],
  ) {}

  /** @param store flags of `serve` and `admin` with the location of the store */
  static async start(store: readonly string[]): Promise<SyncFixture> {
    const ada = await createAccountWithMap(store);
    const bob = await createAccountWithMap(store, "bob@example.org");
    const service = await ServiceProcess.start([...store, "--log-level", "silent", "--quiet"]);
    return new SyncFixture(service, ada, bob, store);
  }

  get url(): string {
    return this.service.url;
  }

  async newMap(
    options: { readonly owner?: Account; readonly private?: boolean; readonly name?: string } = {},
  ): Promise<string> {
    const { owner = this.ada, private: hidden = false, name = "Places" } = options;
    const made = await this.ask("POST", "/api/v1/maps", { name, private: hidden }, owner);
    return (made as { readonly id: string }).id;
  }

  /** @returns all features of a map */
  async features(map: string): Promise<readonly WireFeature[]> {
    const all: WireFeature[] = [];
    for (let page = 1; ; page++) {
      const answer = await this.ask("GET", `${featuresPath(map)}?page=${page}&per_page=500`);
      const { features } = answer as { readonly features: readonly WireFeature[] };
      all.push(...features);
      if (features.length < 500) return all;
    }
  }

  /** Writes to a map like another program. @returns the response of the service */
  async write(method: "POST" | "PUT" | "PATCH" | "DELETE", map: string, body: object): Promise<WireResult> {
    return (await this.ask(method, featuresPath(map), body)) as WireResult;
  }

  async fill(map: string, places: readonly Place[]): Promise<void> {
    for (let from = 0; from < places.length; from += maxFeaturesPerRequest)
      await this.write("POST", map, { features: places.slice(from, from + maxFeaturesPerRequest) });
  }

  /** Writes a file of newline-delimited GeoJSON. */
  source(places: readonly Place[], name = `source-${this.files++}.geojsonl`): string {
    return this.file(name, places.map((place) => `${JSON.stringify(place)}\n`).join(""));
  }

  /** @returns the path of a test file with this text */
  file(name: string, contents: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, contents);
    return path;
  }

  /** Runs a command without blocking the test. */
  async geoferry(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
    const { url = this.url, as = this.ada, env = {}, input = "", cwd = this.folder, watch, fresh } = options;
    const environment = {
      ...cleanEnvironment,
      NO_COLOR: "1",
      XDG_STATE_HOME: join(this.folder, "state"),
      XDG_CONFIG_HOME: join(this.folder, "config"),
      GEOFERRY_URL: url,
      GEOFERRY_CLIENT_ID: as.clientId,
      GEOFERRY_CLIENT_SECRET: as.clientSecret,
      ...env,
    };
    const request = { args, cwd, env: environment, input };
    if (!watch && !fresh && warmCommand.canRun(request)) return warmCommand.run(request);
    const child = spawn(process.execPath, [main, ...args], {
      cwd,
      env: environment,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const ended = once(child, "close");
    // The command may end before it has read its input.
    child.stdin.on("error", () => {}).end(input);
    watch?.(child);
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const [status] = (await ended) as [number | null];
    return { status, stdout, stderr };
  }

  async close(): Promise<void> {
    await this.service.end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async ask(method: string, path: string, body?: object, as: Account = this.ada): Promise<unknown> {
    const token = this.tokens.get(as.clientId) ?? requestToken(this.url, as);
    this.tokens.set(as.clientId, token);
    const answer = await fetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${await token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const said = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} is answered with ${answer.status}: ${said.slice(0, 500)}`);
    return JSON.parse(said);
  }
}

const featuresPath = (map: string): string => `/api/v1/maps/${map}/features`;

/** A kind of store, and how to start a service with it. */
export interface FixtureKind {
  readonly name: "SQLite" | "PostgreSQL";
  start(): Promise<SyncFixture>;
}

/** Call it at the top of a test file. Skips PostgreSQL, with a message, if it is not available. */
export async function findFixtureKinds(): Promise<readonly FixtureKind[]> {
  const started: SyncFixture[] = [];
  const data: string[] = [];
  afterAll(async () => {
    await Promise.all(started.map((world) => world.close()));
    for (const folder of data) rmSync(folder, { recursive: true, force: true });
  });
  const start = async (store: readonly string[]) => {
    const world = await SyncFixture.start(store);
    started.push(world);
    return world;
  };
  const sqlite: FixtureKind = {
    name: "SQLite",
    start: () => {
      const folder = mkdtempSync(join(tmpdir(), "geoferry-maps-"));
      data.push(folder);
      return start(["--data", join(folder, "data")]);
    },
  };
  const database = await testDatabase();
  if (!database) return [sqlite];
  return [sqlite, { name: "PostgreSQL", start: async () => start(["--database", await database.emptySchema()]) }];
}

/** Runs tests on each kind of store. */
export async function describeOnEveryFixture(describeIt: (kind: FixtureKind) => void): Promise<void> {
  for (const kind of await findFixtureKinds()) describe(`on ${kind.name}`, () => describeIt(kind));
}

/** A place with the key `ref`. */
export const createPlace = (ref: string | number, more: Properties = {}, coordinates = spreadPosition(ref)): Place => ({
  type: "Feature",
  geometry: { type: "Point", coordinates },
  properties: { ref, ...more },
});

/**
 * A position in Switzerland that depends on the key; it has seven decimals, the last of which is 3, so that all
 * rounding rules give the same result.
 */
function spreadPosition(ref: string | number): [number, number] {
  let hash = 2166136261;
  for (const letter of String(ref)) hash = Math.imul(hash ^ letter.codePointAt(0)!, 16777619) >>> 0;
  const degrees = (whole: number, part: number) => Number(`${whole}.${String(part).padStart(6, "0")}3`);
  return [degrees(6 + (hash % 4), hash % 1_000_000), degrees(46 + (hash % 2), (hash >>> 8) % 1_000_000)];
}
