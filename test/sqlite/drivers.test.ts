import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadSqlite } from "../../src/sqlite/index.js";
import { loadWasmDriver } from "../../src/sqlite/wasm-driver.js";
import { TemporaryFolder } from "../../src/testing/index.js";
import { root } from "../support/command.js";
import { nodeVersion } from "../support/node-versions.js";
import { observeDriver } from "./observe-driver.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

describe("each driver of SQLite returns and throws what better-sqlite3 does", () => {
  let expected: Record<string, unknown>;

  beforeAll(async () => {
    writeFileSync(scratch.path("text.db"), "this is no database, however long it may be".repeat(100));
    expected = observeDriver(await loadSqlite(), scratch.path("."));
  });

  test("SQLite's WebAssembly build behaves like better-sqlite3", async () => {
    expect(Object.keys(expected).length).toBeGreaterThan(40);
    expect(observeDriver(await loadWasmDriver(), scratch.path("."))).toEqual(expected);
  });

  test.each([22, 24] as const)("node:sqlite of Node %s behaves like better-sqlite3", async (version) => {
    const node = await nodeVersion(version);
    if (node === null) return;
    const entry = scratch.path(`entry-${version}.ts`);
    const load = JSON.stringify(`${root}/src/sqlite/index.js`);
    const observe = JSON.stringify(`${root}/test/sqlite/observe-driver.js`);
    writeFileSync(
      entry,
      `import { loadNativeSqlite } from ${load}; import { observeDriver } from ${observe};
       console.log(JSON.stringify(observeDriver(loadNativeSqlite(), process.argv[2])));`,
    );
    const bundle = await rolldown({
      input: entry,
      platform: "node",
      resolve: { extensionAlias: { ".js": [".ts"] } },
      external: [/wasm-driver/],
    });
    const script = scratch.path(`observe-${version}.mjs`);
    await bundle.write({ file: script, codeSplitting: false });
    const env = { ...process.env, GEOFERRY_SQLITE: "node:sqlite" };
    const stdout = execFileSync(node, [script, scratch.path(".")], { env, encoding: "utf8" });
    expect(JSON.parse(stdout)).toEqual(expected);
  });
});
