/**
 * The service on a full disk reports the condition, still serves reads, and accepts writes again once there is space.
 */
import { spawnSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { openPostgresStore } from "../../src/service/store/postgres/index.js";
import { geoferry } from "../support/command.js";
import { execute, startServer, testDatabase } from "../support/servers/postgres.js";
import { createAccountWithMap, createScratchFolder, requestToken, ServiceProcess } from "./service-process.js";
import { insertMap, makeWriteRequest, numberedFeatures } from "./store/store-fixture.js";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const folder = createScratchFolder();
const disk = join(folder.path, "disk");
mkdirSync(disk);
// A separate file system, which only root can create.
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=12m", "tmpfs", disk]).status === 0;
afterAll(() => void (mounted && spawnSync("umount", ["-l", disk])));
if (!mounted)
  console.warn("disk-full.test.ts: no file system can be mounted here, so SQLite on a full disk is left out");

const database = await testDatabase();

describe("a full disk", () => {
  test.runIf(mounted || process.env.CI)(
    "a full disk of SQLite fails writes only, and push reports it at once",
    async () => {
      const store = ["--data", join(disk, "data")];
      const client = await createAccountWithMap(store);
      const filler = join(disk, "filler");
      writeFileSync(filler, Buffer.alloc(4 << 20));
      const service = await ServiceProcess.start(store);
      const token = await requestToken(service.url, client);
      const send = (method: string, body?: object) =>
        fetch(`${service.url}/api/v1/maps/${client.map}/features`, {
          method,
          headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
          ...(body && { body: JSON.stringify(body) }),
        });
      const text = "x".repeat(1 << 20);
      const feature = { type: "Feature", geometry: null, properties: { text } };
      let answer = await send("POST", { features: [feature] });
      for (let i = 0; answer.ok && i < 20; i++) answer = await send("POST", { features: [feature] });
      expect([answer.status, await answer.json()]).toMatchObject([507, { code: "disk-full" }]);

      expect((await send("GET")).status).toBe(200);
      expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
      const ready = await fetch(`${service.url}/readyz`);
      expect([ready.status, await ready.json()]).toMatchObject([507, { code: "disk-full" }]);

      const source = join(folder.path, "source.geojson");
      writeFileSync(
        source,
        JSON.stringify({
          type: "FeatureCollection",
          features: [{ ...feature, id: 1, properties: { ref: "a", text } }],
        }),
      );
      const env = {
        GEOFERRY_URL: service.url,
        GEOFERRY_CLIENT_ID: client.clientId,
        GEOFERRY_CLIENT_SECRET: client.clientSecret,
      };
      const line = [
        "push",
        source,
        "--map",
        client.map,
        "--mode",
        "append",
        "--state",
        join(folder.path, "state"),
        "--backup",
        folder.path,
      ];
      const pushed = geoferry(line, { env });
      expect(pushed.stderr).toContain("the disk of the service is full");
      expect(pushed.status).toBe(8);

      rmSync(filler);
      await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status, { timeout: 30_000 }).toBe(200);
      expect((await send("POST", { features: [feature] })).status).toBe(201);
      expect(await service.end()).toBe(0);
    },
  );

  test.runIf(mounted || process.env.CI)(
    "on a full disk, PostgreSQL is not ready, although a row still fits into the pages of a table",
    async ({ skip }) => {
      const server = await startServer();
      if (!server) return skip("PostgreSQL is not installed here");
      const [settings] = await execute<{ data_directory: string }>(server.url, "SHOW data_directory");
      const { uid, gid } = statSync(settings!.data_directory);
      // Within the server's folder, since its user cannot enter those of the tests.
      const small = join(dirname(settings!.data_directory), "small");
      mkdirSync(small);
      expect(spawnSync("mount", ["-t", "tmpfs", "-o", `size=12m,uid=${uid},gid=${gid}`, "tmpfs", small]).status).toBe(
        0,
      );
      try {
        await execute(server.url, `CREATE TABLESPACE small LOCATION '${small}'`);
        const options = encodeURIComponent("-c default_tablespace=small");
        await using store = await openPostgresStore(`${server.url}&options=${options}`);
        const map = await insertMap(store);
        await store.write(makeWriteRequest(map, "create", numberedFeatures(1)));
        const filler = join(small, "filler");
        const { bavail, bsize } = statfsSync(small);
        writeFileSync(filler, Buffer.alloc(bavail * bsize - (512 << 10)));
        const large = { type: "Feature", geometry: null, properties: { text: randomBytes(1 << 20).toString("hex") } };
        const full = { code: "disk-full", statusCode: 507 };
        await expect(store.write(makeWriteRequest(map, "create", [large] as never))).rejects.toMatchObject(full);
        await expect(store.ping()).rejects.toMatchObject(full);
        expect((await store.page({ map, size: 10, page: 1 }))!.count).toBe(1);
        rmSync(filler);
        await store.ping();
      } finally {
        spawnSync("umount", ["-l", small]);
        await server.stop();
      }
    },
  );

  test.runIf(database !== null)(
    "a role that may not create tables is ready when it can write a row again",
    async () => {
      const url = await database!.emptySchema();
      await (await openPostgresStore(url))[Symbol.asyncDispose]();
      const role = `geoferry_test_${randomUUID().replaceAll("-", "")}`;
      await execute(url, `CREATE ROLE ${role} LOGIN`);
      await execute(url, `DO $$ BEGIN EXECUTE 'GRANT USAGE ON SCHEMA ' || current_schema() || ' TO ${role}'; END $$`);
      await execute(
        url,
        `DO $$ BEGIN EXECUTE 'GRANT ALL ON ALL TABLES IN SCHEMA ' || current_schema() || ' TO ${role}'; END $$`,
      );
      try {
        const login = new URL(url);
        login.username = role;
        await using store = await openPostgresStore(login.href);
        const map = await insertMap(store);
        const request = makeWriteRequest(map, "create", numberedFeatures(1));
        // The server's error when a file cannot grow (PostgreSQL, appendix A).
        const refuse = `BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END`;
        await execute(url, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ ${refuse} $$`);
        for (const table of ["features", "geoferry_schema"])
          await execute(url, `CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON ${table} EXECUTE FUNCTION refuse()`);
        const full = { code: "disk-full", statusCode: 507 };
        await expect(store.write(request)).rejects.toMatchObject(full);
        await expect(store.ping()).rejects.toMatchObject(full);
        for (const table of ["features", "geoferry_schema"]) await execute(url, `DROP TRIGGER full_disk ON ${table}`);
        await store.ping();
      } finally {
        await execute(url, `DROP OWNED BY ${role}; DROP ROLE ${role}`);
      }
    },
  );
});
