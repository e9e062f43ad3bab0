import { describe, vi } from "vitest";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { testDatabase } from "../../../support/servers/postgres.js";
import { describeStoreContract } from "../contract.js";

const database = await testDatabase();
// Each commit waits for a shared disk.
vi.setConfig({ testTimeout: 300_000 });

describe.skipIf(!database)("PostgreSQL", () => {
  describeStoreContract("PostgreSQL", async (reading) => openPostgresStore(await database!.emptySchema(), reading));
});
