/** A database on several servers: the primary is found, also after another one has become it. */
import { afterAll, expect, test } from "vitest";
import { hostUrls } from "../../../../src/service/store/postgres/host-urls.js";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { startReplicatedServers } from "../../../support/servers/postgres.js";

const servers = await startReplicatedServers();
if (!servers && process.env.CI) throw new Error("PostgreSQL is not installed, and CI must not leave its tests out");
if (!servers) console.warn("NOT TESTED: the failover of PostgreSQL, which is not installed");
afterAll(() => servers?.stop());

const hostOf = (url: string) => new URL(url).host;

test.runIf(servers !== null)("a service continues with the standby that became the primary", async () => {
  const { primary, standby } = servers!;
  // The standby is named first, and refuses writes.
  const store = await openPostgresStore(primary.replace(hostOf(primary), `${hostOf(standby)},${hostOf(primary)}`));
  try {
    await store.ping();
    await servers!.killPrimary();
    await expect(store.ping()).rejects.toMatchObject({ code: "store-unavailable" });
    await servers!.promote();
    await store.ping();
    expect(await store.accounts()).toEqual([]);
  } finally {
    await store[Symbol.asyncDispose]();
  }
});

// PostgreSQL 15, 34.1.1.3, with ports and a password.
test.each([
  ["postgres://one/geo", ["postgres://one/geo"]],
  [
    "postgres://ada:a,b@one:5433,two/geo?connect_timeout=5",
    ["postgres://ada:a,b@one:5433/geo?connect_timeout=5", "postgres://ada:a,b@two/geo?connect_timeout=5"],
  ],
  ["postgresql://[::1]:1,[::2]:2/", ["postgresql://[::1]:1/", "postgresql://[::2]:2/"]],
  ["geo", ["geo"]],
])("the hosts of %s", (url, urls) => {
  expect(hostUrls(url)).toEqual(urls);
});
