import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import pg from "pg";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Store } from "../../../../src/service/store/contract.js";
import { openPostgresStore } from "../../../../src/service/store/postgres/index.js";
import { execute, testDatabase } from "../../../support/servers/postgres.js";
import { insertMap, makeWriteRequest, numberedFeatures, readAllByCursor, writeOrFail } from "../store-fixture.js";

const database = await testDatabase();
// Each commit waits for a shared disk.
vi.setConfig({ testTimeout: 300_000 });
const unavailable = { name: "Problem", code: "store-unavailable", statusCode: 503 };

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function opened(url: string): Promise<Store> {
  const store = await openPostgresStore(url);
  closing.push(async () => store[Symbol.asyncDispose]());
  return store;
}

/** A connection of another program with an open transaction. */
async function inTransaction(url: string, ...statements: readonly string[]): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  closing.push(() => client.end());
  for (const statement of ["BEGIN", ...statements]) await client.query(statement);
  return client;
}

/** Waits until another connection waits for a lock. */
async function waitForLock(url: string): Promise<void> {
  const count = `SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'geoferry' AND wait_event_type = 'Lock'`;
  while ((await execute<{ count: number }>(url, count))[0]!.count === 0);
}

/** A proxy to the server whose connections can be interrupted. */
async function createBreakableProxy(url: string): Promise<{ url: string; cut(): void; mend(): Promise<void> }> {
  const { host: far } = new pg.Client({ connectionString: url });
  const { port: farPort } = new pg.Client({ connectionString: url });
  const sockets = new Set<Socket>();
  const start = async (port: number): Promise<Server> => {
    const server = createServer((near) => {
      const socket = far.startsWith("/") ? connect(`${far}/.s.PGSQL.${farPort}`) : connect(farPort, far);
      near.pipe(socket).pipe(near);
      for (const one of [near, socket]) {
        sockets.add(one);
        one.on("error", () => one.destroy());
        one.on("close", () => sockets.delete(one));
      }
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return server;
  };
  let server = await start(0);
  const { port } = server.address() as { port: number };
  const near = new URL(url);
  near.searchParams.delete("host");
  near.hostname = "127.0.0.1";
  near.port = String(port);
  const cut = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  closing.push(async () => cut());
  return {
    url: near.href,
    cut,
    async mend() {
      server = await start(port);
    },
  };
}

describe.skipIf(!database)("a PostgreSQL store whose database", () => {
  test("is disconnected reports that it is unavailable, and recovers when it is back", async () => {
    const way = await createBreakableProxy(await database!.emptySchema());
    const store = await opened(way.url);
    const map = await insertMap(store);
    await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(3)));
    way.cut();
    const asked = [
      store.ping(),
      store.page({ map, size: 10, page: 1 }),
      store.write(makeWriteRequest(map, "create", numberedFeatures(1))),
      store.accounts(),
      store.deleteMap(map),
    ];
    for (const answer of await Promise.allSettled(asked)) {
      expect(answer).toMatchObject({ status: "rejected", reason: unavailable });
    }
    await way.mend();
    await store.ping();
    expect(await readAllByCursor(store, map)).toHaveLength(3);
    expect(await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(1)))).toMatchObject({
      revision: 2,
    });
  });

  test("terminates the connection during a write has none of it", async () => {
    const url = await database!.emptySchema();
    const store = await opened(url);
    const map = await insertMap(store);
    await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(3)));
    const other = await inTransaction(url, "LOCK TABLE bucket_counts");
    const write = store.write(makeWriteRequest(map, "create", numberedFeatures(1)));
    await waitForLock(url);
    const [lost] = await Promise.allSettled([
      write,
      execute(
        url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      ),
    ]);
    expect(lost).toMatchObject({ status: "rejected", reason: unavailable });
    await other.query("COMMIT");
    expect(await store.map(map)).toMatchObject({ features: 3, revision: 1 });
    expect(await readAllByCursor(store, map)).toHaveLength(3);
    expect(await writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(1)))).toMatchObject({
      revision: 2,
    });
  });

  test("terminates a write because of a deadlock gets it again", async () => {
    const url = await database!.emptySchema();
    const store = await opened(url);
    const map = await insertMap(store);
    // The other transaction never times out, so that the write is the victim.
    const other = await inTransaction(url, "SET LOCAL deadlock_timeout = '1h'", "LOCK TABLE bucket_counts");
    const write = writeOrFail(store, makeWriteRequest(map, "create", numberedFeatures(5)));
    await waitForLock(url);
    await other.query("SELECT FROM maps FOR UPDATE");
    await other.query("COMMIT");
    expect(await write).toMatchObject({ revision: 1 });
    expect(await readAllByCursor(store, map)).toHaveLength(5);
  });
});

describe.skipIf(!database)("a map locked by another connection", () => {
  test("blocks its own writes only, neither other maps nor reads", async () => {
    const url = await database!.emptySchema();
    const store = await opened(url);
    const [held, free] = [await insertMap(store), await insertMap(store)];
    const other = await inTransaction(url, `SELECT FROM maps WHERE id = '${held}' FOR UPDATE`);
    const writes = Array.from({ length: 40 }, () =>
      writeOrFail(store, makeWriteRequest(held, "create", numberedFeatures(1))),
    );
    await waitForLock(url);
    expect(await writeOrFail(store, makeWriteRequest(free, "create", numberedFeatures(2)))).toMatchObject({
      revision: 1,
    });
    expect(await readAllByCursor(store, held)).toEqual([]);
    expect(await store.map(held)).toMatchObject({ revision: 0 });
    await other.query("COMMIT");
    expect((await Promise.all(writes)).at(-1)).toMatchObject({ revision: 40 });
  });
});

describe.skipIf(!database)("an Idempotency-Key", () => {
  test("that another process is using is in flight", async () => {
    const url = await database!.emptySchema();
    const [one, two] = [await opened(url), await opened(url)];
    const map = await insertMap(one);
    const idempotency = { scope: "ann", key: "k".repeat(10_000), fingerprint: Buffer.alloc(32) };
    const request = makeWriteRequest(map, "create", numberedFeatures(1), { idempotency });
    const other = await inTransaction(url, `SELECT FROM maps WHERE id = '${map}' FOR UPDATE`);
    const first = one.write(request);
    await waitForLock(url);
    expect(await two.write(request)).toEqual({ kind: "key-in-flight" });
    await other.query("COMMIT");
    const outcome = await first;
    expect(outcome).toMatchObject({ kind: "done", replayed: false });
    expect(await two.write(request)).toEqual({ ...outcome, replayed: true });
  });
});
