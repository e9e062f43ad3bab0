/** A database whose answer to COMMIT is lost, behind a proxy that cuts the connection. */
import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Step } from "../../../../src/jobs/job.js";
import { isRepeatable } from "../../../../src/jobs/steps/repeatable.js";
import { TemporaryFolder } from "../../../../src/testing/index.js";
import { convertFile } from "../../../support/host.js";
import { postgisDatabase } from "../support.js";

const database = await postgisDatabase();
const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** What the proxy does when it sees a COMMIT. */
type Fault = "none" | "lost answer" | "lost request" | "lost answer, then unreachable";

describe.skipIf(!database)("a database whose answer to COMMIT is lost", () => {
  let fault: Fault = "none";
  let isUnreachable = false;
  let address: string;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    if (isUnreachable) return client.destroy();
    const upstream = new URL(database!.address);
    const host = upstream.searchParams.get("host");
    const port = Number(upstream.port || 5432);
    const there = host?.startsWith("/")
      ? connect(`${host}/.s.PGSQL.${port}`)
      : connect(port, host ?? upstream.hostname);
    for (const socket of [client, there]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    const cut = () => {
      client.destroy();
      there.destroy();
    };
    client.on("data", (bytes: Buffer) => {
      const isCommit = fault !== "none" && bytes.includes("COMMIT\0");
      if (isCommit && fault === "lost request") return cut();
      there.write(bytes);
      if (!isCommit) return;
      isUnreachable = fault === "lost answer, then unreachable";
      there.removeAllListeners("data");
      // The answer means that the server has committed.
      there.once("data", cut);
    });
    there.on("data", (bytes: Buffer) => client.write(bytes));
    client.on("end", () => there.end());
    there.on("end", () => client.end());
  });

  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const url = new URL(database!.address);
    url.hostname = "127.0.0.1";
    url.port = String((server.address() as AddressInfo).port);
    url.searchParams.delete("host");
    address = url.href;
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  const input = scratch.path("in.csv");
  let table: string;
  let tables = 0;
  const count = async () => {
    const [row] = await database!.sql<{ n: number }>(`SELECT count(*)::int AS n FROM "${table}"`);
    return row!.n;
  };
  const append = () =>
    convertFile(input, address, { append: true, layerName: table, sourceCrs: "EPSG:4326" }).then(
      () => "done",
      (error: { code?: string }) => error.code,
    );
  beforeEach(async () => {
    fault = "none";
    isUnreachable = false;
    table = `t${tables++}`;
    writeFileSync(input, "name,lon,lat\na,7,46\nb,8,47\n");
    expect(await append()).toBe("done");
  });

  test("is asked whether it has committed: then the conversion succeeds", async () => {
    fault = "lost answer";
    expect([await append(), await count()]).toEqual(["done", 4]);
  });

  test("is unchanged if the request was lost, and may be asked again", async () => {
    fault = "lost request";
    expect([await append(), await count()]).toEqual(["database-unavailable", 2]);
  });

  test("that cannot be asked leaves the outcome unknown", async () => {
    fault = "lost answer, then unreachable";
    expect([await append(), await count()]).toEqual(["commit-outcome-unknown", 4]);
  });
});

test("a step that appends is not repeated if its outcome is unknown", () => {
  const step = (append: boolean) => ({ kind: "conversion", request: { append } }) as Step;
  expect(isRepeatable(step(true), "unknown-outcome")).toBe(false);
  expect(isRepeatable(step(false), "unknown-outcome")).toBe(true);
  expect(isRepeatable(step(true), "unavailable")).toBe(true);
});
