/** A service whose database was restored to an earlier state, and clients that remember a later one. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, test, vi } from "vitest";
import { cleanEnvironment, createAccountWithMap, ServiceProcess } from "../service/service-process.js";
import { hasProgram, main } from "../support/command.js";
import { execute, testDatabase } from "../support/servers/postgres.js";
import { createPlace, type Place } from "../support/sync/sync-fixture.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-restored-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface RestorableStore {
  /** Flags of `serve` and `admin`. */
  readonly store: readonly string[];
  /** Backs up the store while the service is stopped. */
  readonly backUp: () => void;
  readonly putBack: () => Promise<void>;
}

function onSqlite(): RestorableStore {
  const base = mkdtempSync(join(folder, "sqlite-"));
  const [data, copy] = [join(base, "data"), join(base, "copy")];
  return {
    store: ["--data", data],
    backUp: () => cpSync(data, copy, { recursive: true }),
    putBack: async () => {
      rmSync(data, { recursive: true });
      cpSync(copy, data, { recursive: true });
    },
  };
}

const database = await testDatabase();

async function onPostgres(): Promise<RestorableStore> {
  const url = await database!.emptySchema();
  const schema = new URL(url).searchParams.get("options")!.split("=")[1]!;
  const dump = join(mkdtempSync(join(folder, "postgres-")), "dump");
  return {
    store: ["--database", url],
    backUp: () => execFileSync("pg_dump", ["--format=custom", `--schema=${schema}`, `--file=${dump}`, database!.url]),
    putBack: async () => {
      await execute(database!.url, `DROP SCHEMA ${schema} CASCADE`);
      execFileSync("pg_restore", ["--exit-on-error", "--no-owner", `--dbname=${database!.url}`, dump]);
    },
  };
}

const kinds: readonly (readonly [string, () => RestorableStore | Promise<RestorableStore>])[] = [
  ["SQLite, by a copy of its folder", onSqlite],
  ...(database && hasProgram("pg_dump") ? [["PostgreSQL, by pg_restore", onPostgres] as const] : []),
];

const before = Array.from({ length: 50 }, (_, i) => createPlace(`k${i}`, { state: "before" }));
/** Seven features change, three are removed, two are new. */
const after: readonly Place[] = [
  ...before
    .slice(3)
    .map((one, i) => (i % 7 === 0 ? { ...one, properties: { ...one.properties, state: "after" } } : one)),
  createPlace("k50", { state: "after" }),
  createPlace("k51", { state: "after" }),
];
const write = (name: string, places: readonly Place[]): string => {
  const path = join(folder, name);
  writeFileSync(path, places.map((one) => `${JSON.stringify(one)}\n`).join(""));
  return path;
};

vi.setConfig({ testTimeout: 300_000 });

describe.each(kinds)("%s", (_name, make) => {
  test.each(["full", "incremental"])(
    "a %s push after the restore ignores outdated state, and verify finds no difference",
    async (mode) => {
      const { store, backUp, putBack } = await make();
      const ada = await createAccountWithMap(store);
      let service = await ServiceProcess.start([...store, "--log-level", "silent", "--quiet"]);
      const port = new URL(service.url).port;
      const clients = ["office", "laptop"].map((name) => mkdtempSync(join(folder, `${name}-`)));
      const run = async (client: string, args: readonly string[]) => {
        const child = spawn(process.execPath, [main, ...args, "--map", ada.map, "--remote-field", "ref"], {
          cwd: client,
          env: {
            ...cleanEnvironment,
            NO_COLOR: "1",
            XDG_STATE_HOME: join(client, "state"),
            XDG_CONFIG_HOME: join(client, "config"),
            GEOFERRY_URL: service.url,
            GEOFERRY_CLIENT_ID: ada.clientId,
            GEOFERRY_CLIENT_SECRET: ada.clientSecret,
          },
          stdio: ["ignore", "pipe", "pipe"],
        });
        const ended = once(child, "close");
        const [, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
        const [status] = (await ended) as [number];
        return { status, stderr };
      };
      const push = async (client: string, source: string) => {
        const { status, stderr } = await run(client, ["push", source, "--mode", mode, "--yes", "--max-delete", "100%"]);
        expect(status, stderr).toBe(0);
        return stderr;
      };
      const restart = async (work: () => void | Promise<void>) => {
        await service.end();
        await work();
        service = await ServiceProcess.start([...store, "--port", port, "--log-level", "silent", "--quiet"]);
      };
      const [office, laptop] = clients as [string, string];
      const [old, fresh] = [write("old.geojsonl", before), write("fresh.geojsonl", after)];

      await push(office, old);
      await push(laptop, old);
      await restart(backUp);
      await push(office, fresh);
      await push(laptop, fresh);
      await restart(putBack);

      // The map has its earlier content, while both clients remember a later one.
      const differs = await run(office, ["verify", fresh, "--exit-code"]);
      expect(differs.status, differs.stderr).toBe(20);
      await push(office, fresh);
      await push(laptop, fresh);
      // An incremental push keeps features that were removed from its source.
      const wanted = mode === "full" ? fresh : write("both.geojsonl", [...before.slice(0, 3), ...after]);
      for (const client of clients) {
        const same = await run(client, ["verify", wanted, "--exit-code"]);
        expect(same.status, same.stderr).toBe(0);
      }
      await service.end();
    },
  );
});
