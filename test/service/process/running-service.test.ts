/** The running service: monitoring, shutdown, and recovery after it was killed. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import fastify, { type FastifyBaseLogger } from "fastify";
import { describe, expect, test, vi } from "vitest";
import { installErrorHandler } from "../../../src/service/http/error-handler.js";
import { registerHealthChecks } from "../../../src/service/monitoring/health-checks.js";
import { type LogLevel, loggerOptions, redactSecrets } from "../../../src/service/monitoring/logging.js";
import { Metrics } from "../../../src/service/monitoring/metrics.js";
import { schedulePurge } from "../../../src/service/process/purge-schedule.js";
import { testDatabase } from "../../support/servers/postgres.js";
import {
  createAccountWithMap,
  createScratchFolder,
  password,
  postFeatures,
  readFeatureIds,
  requestToken,
  ServiceProcess,
} from "../service-process.js";

// Each command is a separate process, which is slow on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const folder = createScratchFolder();
const database = await testDatabase();
const sqlite = ["SQLite", async () => ["--data", folder.data()] as readonly string[]] as const;
const stores = [
  sqlite,
  ...(database
    ? [["PostgreSQL", async () => ["--database", await database.emptySchema()] as readonly string[]] as const]
    : []),
];

/** Waits until the port is closed. */
async function waitUntilClosed(url: string): Promise<void> {
  const listening = () =>
    fetch(`${url}/healthz`).then(
      () => "open",
      () => "closed",
    );
  await expect.poll(listening, { timeout: 60_000 }).toBe("closed");
}

/** An open connection on which the service has already responded. */
async function openConnection(port: number): Promise<Socket> {
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => undefined).write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const answered = await Promise.race([
      once(socket, "data").then(() => true),
      once(socket, "close").then(() => false),
    ]);
    // An earlier connection may not be closed yet.
    if (answered) return socket;
  }
}

describe("a running service", () => {
  test("reports health and readiness, and counts requests by route, without ids", async () => {
    const store = await sqlite[1]();
    const made = await createAccountWithMap(store);
    const service = await ServiceProcess.start(store);
    for (const path of ["/healthz", "/readyz"]) {
      const answer = await fetch(service.url + path);
      expect(answer.status, path).toBe(200);
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
    const token = await requestToken(service.url, made);
    await postFeatures(service.url, made.map, token, 2);
    await postFeatures(service.url, made.map, "wrong", 2);
    await readFeatureIds(service.url, made.map, token);
    await fetch(`${service.url}/nothing/${made.map}`);

    const answer = await fetch(`${service.url}/metrics`);
    expect(answer.headers.get("content-type")).toContain("text/plain; version=0.0.4");
    const text = await answer.text();
    const count = (labels: string) =>
      text.match(new RegExp(`^geoferry_http_request_duration_seconds_count\\{${labels}\\} (\\d+)$`, "m"))?.[1];
    const features = "/api/v1/maps/:mapId/features";
    expect(count(`method="POST",route="${features}",status="201"`)).toBe("1");
    expect(count(`method="POST",route="${features}",status="401"`)).toBe("1");
    expect(count(`method="GET",route="${features}",status="200"`)).toBe("1");
    expect(count('method="GET",route="none",status="404"')).toBe("1");
    expect(text).toMatch(/^geoferry_store_call_duration_seconds_count\{call="write",outcome="answered"\} 1$/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_seconds [\d.e-]+$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(text).toMatch(/^geoferry_http_requests_in_flight 1$/m);
    expect(text).not.toContain(made.map);
    expect(text).not.toContain("ada@");
    expect(await service.end()).toBe(0);
  });

  test("logs each request as a line of JSON with its id and without secrets", async () => {
    const store = await sqlite[1]();
    const service = await ServiceProcess.start([...store, "--log-level", "trace"]);
    const setup = new URL(service.record.setup!).searchParams.get("token")!;
    await fetch(service.record.setup!);
    const made = await createAccountWithMap(store);
    const token = await requestToken(service.url, made);
    const basic = Buffer.from(`${made.clientId}:${made.clientSecret}`).toString("base64");
    const body = new URLSearchParams({ grant_type: "client_credentials_with_user" });
    await fetch(`${service.url}/token`, { method: "POST", body, headers: { authorization: `Basic ${basic}` } });
    await fetch(`${service.url}/token?client_secret=${made.clientSecret}&password=${encodeURIComponent(password)}`);
    const answer = await fetch(`${service.url}/api/v1/maps/${made.map}/features?access_token=${token}`, {
      headers: { authorization: `Bearer ${token}`, cookie: "session=gfn_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG" },
    });
    await fetch(`${service.url}/healthz`);
    expect(await service.end()).toBe(0);

    const logged = service.logs.map((line) => JSON.stringify(line)).join("\n");
    for (const secret of [setup, token, made.clientSecret, basic, password, encodeURIComponent(password), "gfn_abc"])
      expect(logged, secret).not.toContain(secret);
    const line = service.logs.find(({ reqId }) => reqId === answer.headers.get("x-request-id"));
    expect(line).toMatchObject({ level: "info", method: "GET", status: 200, address: "127.0.0.1", msg: "request" });
    expect(line!.url).toContain(`/api/v1/maps/${made.map}/features?access_token=`);
    expect(typeof line!.ms).toBe("number");
    expect(new Date(line!.time as string).toISOString()).toBe(line!.time);
    expect(service.logs.some(({ url }) => url === "/healthz")).toBe(false);
    expect(service.logs.at(-1)).toMatchObject({ msg: "ended" });
  });

  test("limits connections and headers", async () => {
    const store = await sqlite[1]();
    const service = await ServiceProcess.start([...store, "--limit", "connections=2", "--limit", "headerBytes=2000"]);
    const { port } = new URL(service.url);
    const headers = { "x-long": "x".repeat(3000) };
    expect((await fetch(`${service.url}/healthz`, { headers })).status).toBe(431);
    const open = [await openConnection(Number(port)), await openConnection(Number(port))];
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/^geoferry_connections_closed_total [1-9]/m);
    for (const socket of open) socket.destroy();
    expect(await service.end()).toBe(0);
  });
});

describe("the log", () => {
  const lines: string[] = [];
  const app = (level: LogLevel) =>
    fastify({ logger: loggerOptions(level, { write: (line) => void lines.push(line) }) });

  test.each([
    ["authorization", { authorization: "Bearer abcdefgh" }],
    ["headers", { sent: { headers: { cookie: "a=b; c=top", authorization: "Basic dG9wOnRvcA==" } } }],
    ["a form", { body: { client_id: "gfc_x", client_secret: "top", password: "top" } }],
    ["an error", { err: new Error("postgres://ada:top@db/maps does not answer, nor does Bearer top-top-top") }],
    ["a hash", { account: { passwordHash: "$argon2id$v=19$m=19456,t=2,p=1$top$top" } }],
  ])("redacts the secrets in %s", (_, object) => {
    lines.length = 0;
    app("info").log.info(object, "a line");
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toMatch(/top|abcdefgh|dG9w/);
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: "info", msg: "a line" });
  });

  test("keeps other values", () => {
    const line =
      '{"client_id":"gfc_AbC","url":"/api/v1/maps?page=2&per_page=5","msg":"the bearer of news, a basic idea"}';
    expect(redactSecrets(line)).toBe(line);
  });
});

describe("/readyz", () => {
  const probed = (ping: () => Promise<void>, ending = false) => {
    const app = fastify();
    installErrorHandler(app);
    registerHealthChecks(app, { store: { ping }, metrics: new Metrics("0"), isEnding: () => ending });
    return app.inject("/readyz");
  };

  test.each([
    ["responds", async () => {}, false, 200, undefined],
    ["fails", async () => Promise.reject(new Error("away")), false, 503, "store-unavailable"],
    ["does not respond in time", () => new Promise<void>(() => {}), false, 503, "store-unavailable"],
    ["responds, but the service is shutting down", async () => {}, true, 503, "ending"],
  ])("if the store %s", async (_, ping, ending, status, code) => {
    const answer = await probed(ping, ending);
    expect(answer.statusCode).toBe(status);
    expect(answer.json().code).toBe(code);
  });
});

test("expired data is purged at start and every ten minutes, and failures are logged", async () => {
  vi.useFakeTimers();
  try {
    const purged: number[] = [];
    const logged: unknown[] = [];
    const entries: number[] = [];
    const begun = Date.now();
    const store = {
      async purge(now: number) {
        purged.push(now);
        if (purged.length === 2) throw new Error("away");
      },
      async purgeAudit(before: number) {
        entries.push((begun - before) / 86_400_000);
        return entries.length < 3;
      },
    };
    const log = { error: (...words: unknown[]) => void logged.push(words.at(-1)) } as unknown as FastifyBaseLogger;
    const purging = schedulePurge(store, 30, log);
    await vi.advanceTimersByTimeAsync(25 * 60_000);
    await purging.stop();
    await vi.advanceTimersByTimeAsync(25 * 60_000);
    expect(purged.map((time) => (time - begun) / 60_000)).toEqual([0, 10, 20]);
    expect(logged).toEqual(["failed to remove expired data; retrying later"]);
    // Batches while there are more, then once per run that did not fail.
    expect(entries.slice(0, 3)).toEqual([30, 30, 30]);
    expect(entries.length).toBe(4);
    const forEver = schedulePurge(store, 0, log);
    await forEver.stop();
    expect(entries.length).toBe(4);
    // More days than since 1970, in milliseconds more than an integer of PostgreSQL: everything is kept.
    const all = schedulePurge(store, Number.MAX_SAFE_INTEGER, log);
    await vi.advanceTimersByTimeAsync(1);
    await all.stop();
    expect(entries[4]).toBe(begun / 86_400_000);
  } finally {
    vi.useRealTimers();
  }
});

/** A request whose body is incomplete. */
function startUnfinishedRequest(url: string, path: string, token: string, agent: Agent) {
  const body = JSON.stringify({ features: [{ type: "Feature", geometry: null, properties: {} }] });
  const sending = request(url + path, {
    method: "POST",
    agent,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", "content-length": body.length },
  });
  sending.write(body.slice(0, 10));
  const answer = once(sending, "response").then(([message]) => message as IncomingMessage);
  return { answer, finish: () => sending.end(body.slice(10)) };
}

/** Waits until a request is in progress, besides the one that polls. */
const waitUntilInFlight = (url: string): Promise<void> =>
  expect
    .poll(async () => (await fetch(`${url}/metrics`)).text(), { timeout: 60_000 })
    .toMatch(/^geoferry_http_requests_in_flight 2$/m);

describe("shutdown of a service", () => {
  test("finishes requests in progress, rejects new ones, and exits with 0", async () => {
    const store = await sqlite[1]();
    const made = await createAccountWithMap(store);
    const service = await ServiceProcess.start(store);
    const token = await requestToken(service.url, made);
    const path = `/api/v1/maps/${made.map}/features`;
    const agent = new Agent({ keepAlive: true });
    const sent = startUnfinishedRequest(service.url, path, token, agent);
    await waitUntilInFlight(service.url);
    service.process.kill("SIGTERM");
    await waitUntilClosed(service.url);
    sent.finish();
    const answer = await sent.answer;
    expect(answer.statusCode).toBe(201);
    expect(answer.headers.connection).toBe("close");
    answer.resume();
    expect(await service.exited).toBe(0);

    const again = await ServiceProcess.start(store);
    expect(await readFeatureIds(again.url, made.map, await requestToken(again.url, made))).toHaveLength(1);
    expect(await again.end()).toBe(0);
  });

  test("is limited in time", async () => {
    const store = await sqlite[1]();
    const made = await createAccountWithMap(store);
    const service = await ServiceProcess.start([...store, "--limit", "endSeconds=1"]);
    const sent = startUnfinishedRequest(
      service.url,
      `/api/v1/maps/${made.map}/features`,
      await requestToken(service.url, made),
      new Agent(),
    );
    sent.answer.catch(() => undefined);
    await waitUntilInFlight(service.url);
    expect(await service.end()).toBe(0);
    expect(service.logs.some(({ level, msg }) => level === "warn" && /still in progress/.test(msg as string))).toBe(
      true,
    );
    await expect(sent.answer).rejects.toThrow();
  });

  test("is immediate on a second signal", async () => {
    const store = await sqlite[1]();
    const made = await createAccountWithMap(store);
    const service = await ServiceProcess.start(store);
    const sent = startUnfinishedRequest(
      service.url,
      `/api/v1/maps/${made.map}/features`,
      await requestToken(service.url, made),
      new Agent(),
    );
    sent.answer.catch(() => undefined);
    await waitUntilInFlight(service.url);
    service.process.kill("SIGTERM");
    await waitUntilClosed(service.url);
    expect(await service.end()).toBe(130);
  });
});

describe.each(stores)("a service killed while it writes to %s", (_, newStore) => {
  test("has all acknowledged writes after a restart, and no partial ones", async () => {
    const store = await newStore();
    const made = await createAccountWithMap(store);
    const acknowledged = new Set<string>();
    const perRequest = 7;
    for (let round = 0; round < 3; round++) {
      const service = await ServiceProcess.start(store);
      const token = await requestToken(service.url, made);
      const writers = Array.from({ length: 4 }, async () => {
        for (;;) {
          const answer = await postFeatures(service.url, made.map, token, perRequest).catch(() => null);
          if (answer === null) return;
          expect(answer.status).toBe(201);
          for (const { id } of answer.body.success!) acknowledged.add(id);
        }
      });
      const before = acknowledged.size;
      while (acknowledged.size < before + 20 * perRequest) await sleep(5);
      expect(await service.end("SIGKILL")).toBe(null);
      await Promise.all(writers);
    }
    const service = await ServiceProcess.start(store);
    const ids = await readFeatureIds(service.url, made.map, await requestToken(service.url, made));
    expect(new Set(ids).size).toBe(ids.length);
    expect([...acknowledged].filter((id) => !ids.includes(id))).toEqual([]);
    expect(ids.length % perRequest).toBe(0);
    expect(await service.end()).toBe(0);
  });
});

describe.runIf(database)("two services on one PostgreSQL database", () => {
  test("start concurrently, and see each other's writes", async () => {
    const store = ["--database", await database!.emptySchema()];
    const [one, other] = await Promise.all([ServiceProcess.start(store), ServiceProcess.start(store)]);
    const made = await createAccountWithMap(store);
    const token = await requestToken(one.url, made);
    expect((await postFeatures(other.url, made.map, token, 5)).status).toBe(201);
    expect(await readFeatureIds(one.url, made.map, token)).toHaveLength(5);
    expect(await one.end()).toBe(0);
    expect(await readFeatureIds(other.url, made.map, token)).toHaveLength(5);
    expect(await other.end()).toBe(0);
  });
});
