/**
 * The service on a full disk reports the condition, still serves reads, and accepts writes again once there is space.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { openPostgresStore } from "../../src/service/store/postgres/index.js";
import { geoferry } from "../support/command.js";
import { execute, testDatabase } from "../support/servers/postgres.js";
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

  test.runIf(database !== null)("a full disk of PostgreSQL is reported as disk-full", async () => {
    const url = await database!.emptySchema();
    await using store = await openPostgresStore(url);
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
    expect((await store.page({ map, size: 10, page: 1 }))!.count).toBe(0);
    for (const table of ["features", "geoferry_schema"]) await execute(url, `DROP TRIGGER full_disk ON ${table}`);
    await store.ping();
    expect(await store.write(request)).toMatchObject({ kind: "done" });
  });
});
