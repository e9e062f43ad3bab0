/** A service whose database file is replaced or deleted while it runs refuses requests instead of losing writes. */
import { copyFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test, vi } from "vitest";
import {
  createAccountWithMap,
  createScratchFolder,
  postFeatures,
  readFeatureIds,
  requestToken,
  ServiceProcess,
} from "../../service-process.js";

vi.setConfig({ testTimeout: 120_000 });

const scratch = createScratchFolder();

async function startWithFeatures() {
  const folder = scratch.data();
  const store = ["--data", folder];
  const client = await createAccountWithMap(store);
  const service = await ServiceProcess.start(store);
  const token = await requestToken(service.url, client);
  const post = (count: number) => postFeatures(service.url, client.map, token, count);
  const readStatus = async (path: string) =>
    (await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status;
  const features = `/api/v1/maps/${client.map}/features`;
  expect((await post(3)).status).toBe(201);
  return { store, client, service, token, file: join(folder, "geoferry.sqlite"), post, readStatus, features };
}

type Started = Awaited<ReturnType<typeof startWithFeatures>>;

async function expectRefusal({ service, post, readStatus, features }: Started): Promise<void> {
  expect(await post(1)).toMatchObject({ status: 503, body: { code: "store-unavailable" } });
  expect(await readStatus(features)).toBe(503);
  expect(await readStatus("/readyz")).toBe(503);
  expect(await readStatus("/healthz")).toBe(200);
  expect(service.stderr).toContain("was replaced or deleted while the service was running");
}

/** Copies a database in use with SQLite's online backup. */
async function backUp(from: string, to: string): Promise<void> {
  const database = new Database(from, { readonly: true });
  await database.backup(to);
  database.close();
}

test("a backup moved over the database is not written to, and is complete after the steps in the log", async () => {
  const started = await startWithFeatures();
  const { store, service, client, token, file, post } = started;
  const backup = join(scratch.path, "backup.sqlite");
  await backUp(file, backup);
  expect((await post(5)).status).toBe(201);
  copyFileSync(backup, `${file}.new`);
  renameSync(`${file}.new`, file);
  await expectRefusal(started);

  await service.end("SIGKILL");
  for (const log of [`${file}-wal`, `${file}-shm`]) rmSync(log, { force: true });
  const again = await ServiceProcess.start(store);
  expect(await readFeatureIds(again.url, client.map, token)).toHaveLength(3);
  expect(await again.end()).toBe(0);
});

test("writes to a deleted database are not acknowledged", async () => {
  const started = await startWithFeatures();
  rmSync(started.file);
  await expectRefusal(started);
  await started.service.end("SIGKILL");
});
