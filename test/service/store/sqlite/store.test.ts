import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { openSqliteStore } from "../../../../src/service/store/sqlite/index.js";
import { storeContract } from "../contract.js";

const folder = mkdtempSync(join(tmpdir(), "geoferry-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let stores = 0;
storeContract("sqlite", () => openSqliteStore(join(folder, `${stores++}.db`)));
