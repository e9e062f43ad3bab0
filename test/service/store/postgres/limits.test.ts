/** Timeouts of PostgreSQL from the URL and from libpq's environment variables. */
import { expect, test } from "vitest";
import { Database, limitsOf } from "../../../../src/service/store/postgres/database.js";
import { testDatabase } from "../../../support/servers/postgres.js";
import { SilentServer } from "../../../support/servers/silent-server.js";

const at = "postgres://a@127.0.0.1:5432/b";

test.each<[string, NodeJS.ProcessEnv, number, number]>([
  ["", {}, 10_000, 60_000],
  ["?connect_timeout=20", { PGCONNECT_TIMEOUT: "3" }, 20_000, 60_000],
  ["", { PGCONNECT_TIMEOUT: "3", PGOPTIONS: "-c statement_timeout=0" }, 3000, 0],
  ["?options=-c%20statement_timeout%3D1500", { PGOPTIONS: "-c statement_timeout=7" }, 10_000, 1500],
  ["?options=-c%20search_path%3Ds0%20--statement_timeout%3D5min", {}, 10_000, 300_000],
  ["?options=-c%20search_path%3Ds0", {}, 10_000, 60_000],
])("%s with the environment %j", (query, environment, connect, statement) => {
  expect(limitsOf(at + query, environment)).toEqual({ connect, statement });
});

test.each(["?connect_timeout=soon", "?connect_timeout=-1", "?options=-c%20statement_timeout%3D99d"])(
  "%s is rejected",
  (query) => {
    expect(() => limitsOf(at + query, {})).toThrow(expect.objectContaining({ code: "usage" }));
  },
);

test("a server that does not respond is given up after connect_timeout", async () => {
  const peer = await SilentServer.start();
  const database = new Database(`postgres://a@127.0.0.1:${peer.port}/b?sslmode=disable&connect_timeout=1`);
  const began = performance.now();
  await expect(database.rows("SELECT 1")).rejects.toMatchObject({ code: "store-unavailable" });
  expect(performance.now() - began).toBeLessThan(5000);
  await database.close();
  peer.close();
});

const real = await testDatabase();

test.skipIf(!real)("a statement ends after statement_timeout, also after a vacuum", async () => {
  const database = new Database(`${real!.url}?options=-c%20statement_timeout%3D300`);
  const timeout = () =>
    database.snapshot((session) => session.rows("SELECT current_setting('statement_timeout') AS is"));
  try {
    await expect(database.rows("SELECT pg_sleep(20)")).rejects.toMatchObject({ code: "store-unavailable" });
    await database.run("CREATE TABLE t (a int)");
    await database.vacuum("t");
    expect(await timeout()).toEqual([{ is: "300ms" }]);
  } finally {
    await database.close();
  }
});
