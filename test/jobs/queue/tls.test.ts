/** Queues with TLS. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { geoferry, hasProgram, main } from "../../support/command.js";
import { JobFixture, pointsCsv } from "../../support/jobs/job-fixture.js";
import { WorkerFleet } from "../../support/jobs/worker-fleet.js";
import { type Certificate, makeCertificate } from "../../support/servers/certificate.js";
import { hasRedis, RedisServer } from "../../support/servers/redis.js";

const fixture = new JobFixture();
const { at, put } = fixture;

/** A server built without TLS does not start with TLS settings. */
const speaksTls = hasRedis && hasProgram("openssl") && spawnSync("redis-cli", ["--help"]).stdout.includes("--tls");

describe.runIf(speaksTls)("queues with TLS", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "geoferry-tls-"));
  let certificate: Certificate;
  let redis: RedisServer;
  /** A Redis ACL with a single user. */
  const users = ["--user", "carrier", "on", ">geheim", "~*", "&*", "+@all", "--user", "default", "off"];
  const queueOf = (url: string) => url.replace("//", "//carrier:geheim@");

  beforeAll(async () => {
    certificate = makeCertificate(folder);
    redis = await RedisServer.start(["--tls-auth-clients", "no", ...users], certificate);
  });
  afterAll(async () => {
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const trusting = () => ({
    GEOFERRY_QUEUE: queueOf(redis.url),
    NODE_EXTRA_CA_CERTS: certificate.authority,
    XDG_STATE_HOME: at("state"),
  });
  const fleet = new WorkerFleet(trusting);

  beforeEach(() => {
    put("a.csv", pointsCsv("a"));
    put("job.yaml", "name: q\nsteps:\n  - {name: a, source: a.csv, target: a.geojson}\n");
  });
  const asked = async (url: string, env: NodeJS.ProcessEnv = {}) => {
    const began = performance.now();
    const { status, stderr } = await fixture.run("job.yaml", [], { env: { GEOFERRY_QUEUE: queueOf(url), ...env } });
    expect(stderr).not.toContain("geheim");
    return { status, stderr, seconds: (performance.now() - began) / 1000 };
  };

  test("a worker runs a job over TLS with a user and a password", async () => {
    const worker = await fleet.begin([main, "worker", "--name", "w1", "--concurrency", "1", "--json"]);
    const { status, report, stderr } = await fixture.run("job.yaml", [], { env: trusting() });
    expect([status, stderr]).toEqual([0, expect.not.stringContaining("geheim")]);
    expect(report.steps[0]!.items[0]!.worker).toBe("w1");
    expect(existsSync(at("a.geojson"))).toBe(true);
    expect(await worker.end()).toBe(0);
  });

  test("run and worker fail at once if the certificate of the queue is not trusted", async () => {
    const { status, stderr, seconds } = await asked(redis.url);
    expect([status, stderr]).toEqual([9, expect.stringContaining("the certificate of the queue cannot be verified")]);
    expect(stderr).toContain("NODE_EXTRA_CA_CERTS");
    expect(stderr).toContain(redis.url);
    expect(seconds).toBeLessThan(30);
    const worker = geoferry(["worker"], { env: { GEOFERRY_QUEUE: queueOf(redis.url) } });
    expect([worker.status, worker.stderr]).toEqual([9, stderr]);
  });

  test("the error suggests the other scheme if client and server disagree on TLS", async () => {
    const plain = await asked(redis.url.replace("rediss:", "redis:"));
    expect([plain.status, plain.stderr]).toEqual([8, expect.stringContaining("write rediss://")]);
    const secured = await asked(fleet.redis.url.replace("redis:", "rediss:"));
    expect([secured.status, secured.stderr]).toEqual([8, expect.stringContaining("write redis://")]);
  });

  test("the error names tls-auth-clients if the server requires client certificates", async () => {
    const strict = await RedisServer.start(["--tls-auth-clients", "yes"], certificate);
    try {
      const { status, stderr } = await asked(strict.url, { NODE_EXTRA_CA_CERTS: certificate.authority });
      expect([status, stderr]).toEqual([8, expect.stringMatching(/client certificate|certificate of each client/)]);
    } finally {
      await strict.stop();
    }
  });
});
