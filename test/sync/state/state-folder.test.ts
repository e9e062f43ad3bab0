import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { MapClient, ServiceClient } from "../../../src/remote/client/map-client.js";
import { defaultTraffic } from "../../../src/remote/client/map-client.js";
import { ensureStateId, mapFolder, readStateId } from "../../../src/sync/state/state-folder.js";
import { openReadonlySyncRun, type SyncContext } from "../../../src/sync/sync-run.js";
import { createTestHost } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const modeOf = (path: string) => statSync(path).mode & 0o777;

test.skipIf(process.platform === "win32")(
  "an existing state folder keeps its permissions, a new one is private",
  () => {
    const shared = scratch.path("shared");
    mkdirSync(shared);
    chmodSync(shared, 0o775);
    expect(readStateId(shared)).toBeNull();
    const id = ensureStateId(shared);
    expect([modeOf(shared), modeOf(join(shared, "id")), ensureStateId(shared)]).toEqual([0o775, 0o600, id]);
    ensureStateId(scratch.path("new"));
    expect(modeOf(scratch.path("new"))).toBe(0o700);
  },
);

test("maps whose ids differ only in case have different folders", () => {
  const folderOf = (map: string) => mapFolder(scratch.path("maps"), "https://maps.example.org", map);
  expect(folderOf("Roads")).not.toBe(folderOf("roads"));
});

test("a read-only run writes no state", async () => {
  const stateRoot = scratch.path("unused");
  const map = { url: "https://maps.example.org", id: "m" } as MapClient;
  const context: SyncContext = {
    host: createTestHost(),
    service: { url: map.url, map: () => map } as unknown as ServiceClient,
    traffic: defaultTraffic,
    stateRoot,
    backupPath: null,
    onNotice: () => {},
  };
  const run = await openReadonlySyncRun(context, "m");
  expect(run.state.getNote("key")).toBeNull();
  await run[Symbol.asyncDispose]();
  expect(existsSync(stateRoot)).toBe(false);
});
