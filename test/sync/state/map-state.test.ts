import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hashOfSettings, MapState, openStateReadonly } from "../../../src/sync/state/map-state.js";
import { ensureMapFolder, resolveStateRoot } from "../../../src/sync/state/state-folder.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "geoferry-state-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const digest = (byte: number) => Buffer.alloc(16, byte).toString("hex");
const one = { name: "a", sent: digest(1), held: digest(2), isWhole: true, assignedId: null, isConfirmed: true };

describe("openStateReadonly", () => {
  test("reads what a run has written, without changes", async () => {
    {
      using state = (await MapState.open(folder)).state;
      state.openBaseline("x").saveEntries([one]);
      state.setNote("key", "ref");
      // While a run has it open.
      using seen = await openStateReadonly(folder);
      expect(seen.getNote("key")).toBe("ref");
      expect(seen.openBaseline("x").getDigests("a")).toEqual({ sent: digest(1), held: digest(2), isWhole: true });
      expect(seen.openBaseline("y").isEmpty).toBe(true);
    }
    const before = readFileSync(join(folder, "state.db"));
    using again = await openStateReadonly(folder);
    again.openBaseline("z").getDigests("a");
    expect(readFileSync(join(folder, "state.db")).equals(before)).toBe(true);
  });

  test("openStateReadonly returns an empty state for an unusable file, which it keeps", async () => {
    writeFileSync(join(folder, "state.db"), "no database at all, and longer than a header of one hundred bytes is");
    using seen = await openStateReadonly(folder);
    expect([seen.getNote("key"), seen.openBaseline("x").isEmpty]).toEqual([null, true]);
    expect(readdirSync(folder)).toEqual(["state.db"]);
  });
});

describe("MapState", () => {
  test("MapState keeps its content for the next run", async () => {
    {
      using state = (await MapState.open(folder)).state;
      expect(state.openBaseline("x").isEmpty).toBe(true);
      state.openBaseline("x").saveEntries([one]);
      state.setNote("key", "ref");
      state.setSyncedState("full", { etag: '"7"', source: "s" });
    }
    const { state, notice } = await MapState.open(folder);
    using again = state;
    expect(notice).toBeNull();
    expect(again.openBaseline("x").getDigests("a")).toEqual({ sent: digest(1), held: digest(2), isWhole: true });
    expect(again.openBaseline("x").isEmpty).toBe(false);
    expect(again.getNote("key")).toBe("ref");
    expect(again.getSyncedState("full")).toEqual({ etag: '"7"', source: "s" });
    expect(again.getSyncedState("incremental")).toBeNull();
    again.setSyncedState("full", null);
    expect(again.getSyncedState("full")).toBeNull();
  });

  test("MapState separates baselines of different settings", async () => {
    using state = (await MapState.open(folder)).state;
    state.openBaseline(hashOfSettings({ precision: 7, key: "ref" })).saveEntries([one]);
    expect(state.openBaseline(hashOfSettings({ key: "ref", precision: 7 })).getDigests("a")).not.toBeNull();
    expect(state.openBaseline(hashOfSettings({ key: "ref", precision: 6 })).getDigests("a")).toBeNull();
  });

  test("MapState drops the least recently used baselines", async () => {
    using state = (await MapState.open(folder)).state;
    state.openBaseline("first").saveEntries([one]);
    for (let i = 0; i < 32; i++) state.openBaseline(`other ${i}`).saveEntries([one]);
    const rows = new Sqlite(join(folder, "state.db"), { readonly: true });
    expect(rows.prepare("SELECT count(*) FROM agreed").pluck().get()).toBe(32);
    rows.close();
    expect(state.openBaseline("first").isEmpty).toBe(true);
  });

  test("MapState confirms an entry that differs from what was sent after reading it back twice", async () => {
    using state = (await MapState.open(folder)).state;
    const compared = state.openBaseline("x");
    const odd = { ...one, isConfirmed: false };
    compared.saveEntries([odd]);
    expect(compared.getDigests("a")).toBeNull();
    compared.saveEntries([{ ...odd, held: digest(3) }]);
    expect(compared.getDigests("a")).toBeNull();
    compared.saveEntries([{ ...odd, held: digest(3) }]);
    expect(compared.getDigests("a")).toEqual({ sent: digest(1), held: digest(3), isWhole: true });
  });

  test("MapState finds a feature by its assigned id", async () => {
    using state = (await MapState.open(folder)).state;
    const compared = state.openBaseline("x");
    compared.saveEntries([{ ...one, name: "content:00:1", assignedId: "id-1" }]);
    expect(compared.getAssignedId("content:00:1")).toBe("id-1");
    expect(compared.getAssignedId("id-1")).toBeNull();
    expect(compared.getDigests("id-1")).toEqual({ sent: digest(1), held: digest(2), isWhole: true });
  });

  test("MapState finds assigned ids in baselines with the same basis of ids", async () => {
    using state = (await MapState.open(folder)).state;
    state.openBaseline("x", "ids").saveEntries([{ ...one, assignedId: "id-1" }]);
    using seen = await openStateReadonly(folder);
    for (const each of [state, seen]) {
      const other = each.openBaseline("y", "ids");
      expect([other.getAssignedId("a"), other.getDigests("a"), other.isEmpty]).toEqual(["id-1", null, true]);
      expect(each.openBaseline("y").getAssignedId("a")).toBeNull();
    }
  });

  test("MapState remains intact if its process is killed while writing", async () => {
    (await MapState.open(folder)).state[Symbol.dispose]();
    const script = `
      import Sqlite from "better-sqlite3";
      const state = new Sqlite(${JSON.stringify(join(folder, "state.db"))});
      state.pragma("cache_size = 5");
      state.exec("BEGIN");
      const put = state.prepare("INSERT INTO agreed VALUES (1, ?, zeroblob(16), zeroblob(16), NULL, 1)");
      for (let i = 0; i < 20000; i++) put.run("name " + i);
      process.kill(process.pid, "SIGKILL");`;
    expect(() =>
      execFileSync(process.execPath, ["--input-type=module", "-e", script], {
        cwd: import.meta.dirname,
        stdio: "ignore",
      }),
    ).toThrow();
    expect(existsSync(join(folder, "state.db-journal"))).toBe(true);
    const { state, notice } = await MapState.open(folder);
    using again = state;
    expect(notice).toBeNull();
    again.openBaseline("x").saveEntries([one]);
    const rows = new Sqlite(join(folder, "state.db"), { readonly: true });
    expect(rows.prepare("SELECT count(*) FROM agreed").pluck().get()).toBe(1);
    rows.close();
  });
});

describe("unusable state", () => {
  const path = () => join(folder, "state.db");
  const prepare = async (change: (database: Sqlite.Database) => void) => {
    (await MapState.open(folder)).state[Symbol.dispose]();
    const database = new Sqlite(path());
    change(database);
    database.close();
  };

  test.each<[string, () => Promise<void>]>([
    ["it was written by a later version of geoferry", () => prepare((database) => database.pragma("user_version = 3"))],
    [
      "it was written by an earlier version of geoferry",
      () => prepare((database) => database.pragma("user_version = 1")),
    ],
    ["it is not the state of a map", () => prepare((database) => database.pragma("application_id = 7"))],
    ["it is damaged", async () => writeFileSync(path(), "no database at all ".repeat(99))],
    [
      "it is damaged",
      async () => {
        await prepare((database) => {
          const put = database.prepare("INSERT INTO agreed VALUES (1, ?, zeroblob(16), zeroblob(16), NULL, 1)");
          for (let i = 0; i < 500; i++) put.run(`name ${i}`);
        });
        const bytes = readFileSync(path());
        writeFileSync(path(), bytes.fill(0xa5, 4096 * 4, bytes.length - 4096));
      },
    ],
  ])("MapState moves aside an unusable state and reports it: %s", async (reason, damage) => {
    await damage();
    const before = readFileSync(path());
    const { state, notice } = await MapState.open(folder);
    using again = state;
    expect(notice).toBe(
      `${path()}: ${reason}; it was renamed to ${path()}.set-aside, and all features are compared again`,
    );
    expect(readFileSync(`${path()}.set-aside`).equals(before)).toBe(true);
    expect(again.openBaseline("x").isEmpty).toBe(true);
    again.openBaseline("x").saveEntries([one]);
    expect(again.openBaseline("x").isEmpty).toBe(false);
  });

  test("an empty file, as a crash may leave it, causes no notice", async () => {
    writeFileSync(path(), "");
    const { state, notice } = await MapState.open(folder);
    using _ = state;
    expect(notice).toBeNull();
    expect(readdirSync(folder)).not.toContain("state.db.set-aside");
  });
});

describe("map folder", () => {
  test("the map folder follows the XDG specification", () => {
    expect(resolveStateRoot(undefined, { XDG_STATE_HOME: "/var/state" })).toBe("/var/state/geoferry");
    expect(resolveStateRoot(undefined, { XDG_STATE_HOME: "relative" })).toMatch(/\/\.local\/state\/geoferry$/);
    expect(resolveStateRoot(undefined, {})).toMatch(/\/\.local\/state\/geoferry$/);
    expect(resolveStateRoot("/elsewhere", { XDG_STATE_HOME: "/var/state" })).toBe("/elsewhere");
  });

  test("the map folder is the same for all notations of an address, and different for other maps", () => {
    const one = ensureMapFolder(folder, "https://maps.example.org/", "abc");
    expect(ensureMapFolder(folder, "https://MAPS.example.org:443", "abc")).toBe(one);
    expect(ensureMapFolder(folder, "https://maps.example.org/other", "abc")).not.toBe(one);
    expect(ensureMapFolder(folder, "https://maps.example.org", "abd")).not.toBe(one);
    expect(statSync(one).mode & 0o777).toBe(0o700);
  });
});
