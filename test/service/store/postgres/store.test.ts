import { describe } from "vitest";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { testDatabase } from "../../../support/postgres.js";
import { storeContract } from "../contract.js";

const database = await testDatabase();

describe.skipIf(!database)("PostgreSQL", () => {
  storeContract("PostgreSQL", async () => openPostgresStore(await database!.emptySchema()));
});
