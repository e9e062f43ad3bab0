/** Refusals, secrets, shutdown and sample configurations of workers, and connections to queues. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { geoferry, main, samples } from "../../support/command.js";
import { type JobRunOptions, type JobRunResult, pointsCsv } from "../../support/jobs/job-fixture.js";
import { ServedJobFixture } from "../../support/jobs/served-job-fixture.js";
import { WorkerFleet, waitUntil } from "../../support/jobs/worker-fleet.js";
import { hasRedis, RedisServer } from "../../support/servers/redis.js";

const fixture = await ServedJobFixture.open();
const { at, put, world, environment, serveTable, runServed: run } = fixture;

/** The long timeout is for machines that run tests in parallel. */
describe.runIf(hasRedis)("workers", { timeout: 600_000 }, () => {
  const fleet = new WorkerFleet(environment);
  const runThere = (job: string, flags: readonly string[] = [], options: JobRunOptions = {}) =>
    run(job, [...fleet.flags, ...flags], options);

  describe("refusals", () => {
    const once = (more = "") =>
      `name: once\nretries: 0\nsteps:\n  - {name: a, source: a.csv, target: a.geojson${more}}\n`;
    beforeEach(() => {
      put("a.csv", pointsCsv("a"));
      put("job.yaml", once());
    });
    const refused = async (ran: Promise<JobRunResult>): Promise<string> => {
      const { report, status } = await ran;
      expect([status, report.steps[0]!.error!.code]).toEqual([8, "worker-incompatible"]);
      expect(existsSync(at("a.geojson"))).toBe(false);
      return report.steps[0]!.error!.message;
    };
    /** Runs `act` while the job waits for a worker. */
    const meanwhile = async (act: () => void, flags: readonly string[] = []): Promise<string> => {
      const ran = runThere("job.yaml", flags);
      await waitUntil(async () => (await fleet.left()).some((key) => /:prioritized$/.test(key)));
      act();
      await fleet.worker("w1");
      return refused(ran);
    };

    test("a worker refuses a run with a format that it does not know", async () => {
      await fleet.worker("plain");
      const reader = "{ options: {}, load: async () => ({ open() {} }) }";
      put(
        "odd.mjs",
        `export default { apiVersion: 1, id: "odd", label: "Odd", extensions: ["odd"], identify: () => "no", reader: ${reader} };`,
      );
      const message = await refused(runThere("job.yaml", ["--plugin", at("odd.mjs")]));
      expect(message).toContain("it does not know the format odd");
    });

    test("a worker refuses a source that differs on its machine", async () => {
      expect(await meanwhile(() => put("a.csv", pointsCsv("a", "b")))).toContain("put the sources on shared storage");
    });

    test("a worker refuses a source that is missing on its machine", async () => {
      expect(await meanwhile(() => rmSync(at("a.csv")))).toContain("it cannot find a.csv");
    });

    test("a worker refuses a job file that differs on its machine", async () => {
      expect(await meanwhile(() => put("job.yaml", once(", always: true")))).toContain("has other contents here");
    });

    test("a worker refuses a step whose variables differ in its environment", async () => {
      put("job.yaml", once(', layerName: "${CITY:-here}"'));
      await fleet.worker("w1");
      expect(await refused(runThere("job.yaml", [], { env: { CITY: "there" } }))).toContain("environment");
    });

    test("a worker refuses a map if its state folder differs", async () => {
      put(
        "job.yaml",
        `name: m\nretries: 0\nsteps:\n  - {name: m, source: a.csv, target: {map: ${await world.newMap()}}}\n`,
      );
      await fleet.worker("w1", ["--state", at("elsewhere")]);
      expect(await refused(runThere("job.yaml"))).toContain("--state");
    });
  });

  test("workers resolve secrets themselves, and neither Redis nor reports contain them", async () => {
    const given: (string | undefined)[] = [];
    const host = await serveTable(({ headers }, response) => {
      given.push(headers.authorization);
      response.end(pointsCsv("x"));
    });
    const source = '"http://me:${PASSWORD}@HOST/x.csv"'.replace("HOST", host);
    put("job.yaml", `name: quiet\nretries: 0\nsteps:\n  - {name: a, source: ${source}, target: a.geojson}\n`);
    const client = fleet.redis.client();
    const seen: string[] = [];
    const monitor = await client.monitor();
    monitor.on("monitor", (_: string, words: string[]) => seen.push(words.join(" ")));
    process.env.PASSWORD = "geheim";
    try {
      await fleet.worker("w1");
      const { status, stderr, report } = await runThere("job.yaml");
      expect([status, stderr]).toEqual([0, expect.not.stringContaining("geheim")]);
      expect(JSON.stringify(report)).not.toContain("geheim");
    } finally {
      delete process.env.PASSWORD;
      monitor.disconnect();
      client.disconnect();
    }
    expect(given).toContain(`Basic ${Buffer.from("me:geheim").toString("base64")}`);
    expect(seen.length).toBeGreaterThan(10);
    expect(seen.filter((line) => line.includes("geheim"))).toEqual([]);
  });

  test("a worker that shuts down requeues an unfinished job", async () => {
    let isOpen = false;
    let asked = 0;
    const host = await serveTable(({ method }, response) => {
      if (method === "GET") asked++;
      // The server does not answer the first worker.
      if (isOpen || method === "HEAD") response.end(pointsCsv("x"));
    });
    put("job.yaml", `name: slow\nsteps:\n  - {name: a, source: "http://${host}/x.csv", target: a.geojson}\n`);
    const first = await fleet.worker("first", ["--shutdown-timeout", "0"]);
    const ran = runThere("job.yaml");
    await waitUntil(() => asked > 0 && first.isAtWork);
    expect(await first.end()).toBe(0);
    expect(first.of("requeued")).toHaveLength(1);
    isOpen = true;
    await fleet.worker("second");
    const { status, report } = await ran;
    expect([status, report.steps[0]!.items[0]!.worker]).toEqual([0, "second"]);
  });

  const sample = (name: string) => readFileSync(join(samples, "jobs", name), "utf8");
  test.each([
    ["systemd", () => /^ExecStart=(.*)$/m.exec(sample("geoferry-worker.service"))![1]!],
    [
      "Kubernetes",
      () => {
        const { spec } = parseAllDocuments(sample("kubernetes-workers.yaml"))[0]!.toJS().spec.template;
        return (spec.containers[0].args as string[]).join(" ");
      },
    ],
  ])("the sample configuration for %s starts a worker", async (_, line) => {
    const [command, ...words] = line().slice(line().indexOf("geoferry worker")).split(" ").slice(1);
    const own = words.map((word, n) => (words[n - 1] === "--state" ? at("s") : word));
    const worker = await fleet.begin([main, command!, ...own, ...fleet.flags]);
    expect(worker.of("ready")).toHaveLength(1);
    expect(await worker.end()).toBe(0);
  });
});

describe.runIf(hasRedis)("connections to queues", () => {
  beforeEach(() => {
    put("a.csv", pointsCsv("a"));
    put("job.yaml", "name: q\nsteps:\n  - {name: a, source: a.csv, target: a.geojson}\n");
  });
  const asked = async (url: string, how: JobRunOptions & { readonly flags?: readonly string[] } = {}) => {
    const { status, stderr } = await run("job.yaml", how.flags ?? [], { env: { GEOFERRY_QUEUE: url }, ...how });
    return { status, stderr };
  };

  test("a run fails at once if no server listens at the queue's address", async () => {
    const url = `redis://${await fixture.silence()}`;
    expect(await asked(url)).toEqual({ status: 8, stderr: expect.stringContaining("no server listens there") });
  });

  test("the password of a queue comes from the environment and is never printed", async () => {
    const redis = await RedisServer.start(["--requirepass", "geheim"]);
    try {
      const withPassword = (password: string) => redis.url.replace("//", `//default:${password}@`);
      const wrong = await asked(withPassword("falsch"));
      expect(wrong.status).toBe(9);
      expect(wrong.stderr).toContain("GEOFERRY_QUEUE");
      expect(wrong.stderr).not.toContain("falsch");
      expect((await asked(redis.url)).status).toBe(9);
      const open = await asked(withPassword("geheim"), { env: {}, flags: ["--queue", withPassword("geheim")] });
      expect(open).toEqual({ status: 2, stderr: expect.stringContaining("a command line must not contain passwords") });
      expect(open.stderr).not.toContain("geheim");
    } finally {
      await redis.stop();
    }
  });

  test("a run warns if Redis may evict jobs", async () => {
    const redis = await RedisServer.start(["--maxmemory-policy", "allkeys-lru", "--maxmemory", "50mb"]);
    try {
      const { status, stderr } = await asked(redis.url, {
        env: { GEOFERRY_QUEUE: redis.url },
        watch: (child) =>
          child.stderr!.on("data", (text: Buffer) => {
            if (text.toString().includes("noeviction")) child.kill("SIGINT");
          }),
      });
      expect([status, stderr]).toEqual([130, expect.stringContaining("maxmemory-policy is allkeys-lru")]);
    } finally {
      await redis.stop();
    }
  });

  test("a worker that may not subscribe says what to permit", async () => {
    const redis = await RedisServer.start();
    try {
      const client = redis.client();
      await client.call("ACL", "SETUSER", "nosubscribe", "on", ">geheim", "~*", "&*", "+@all", "-subscribe");
      client.disconnect();
      const env = { ...environment(), GEOFERRY_QUEUE: redis.url.replace("//", "//nosubscribe:geheim@") };
      const { status, stderr } = geoferry(["worker", "--state", at("state")], { env });
      expect([status, stderr]).toEqual([9, expect.stringContaining("permit this to the user with ACL SETUSER")]);
    } finally {
      await redis.stop();
    }
  });

  test("a run fails if Redis refuses jobs", async () => {
    const redis = await RedisServer.start(["--maxmemory", "1mb"]);
    try {
      expect(await asked(redis.url)).toEqual({ status: 8, stderr: expect.stringContaining("OOM") });
      const client = redis.client();
      await client.config("SET", "maxmemory", "0");
      const full = () => client.config("SET", "maxmemory", "1mb");
      await client.call("ACL", "SETUSER", "nochannels", "on", ">geheim", "~geoferry:*", "+@all");
      const withoutChannels = redis.url.replace("//", "//nochannels:geheim@");
      expect(await asked(withoutChannels)).toEqual({ status: 9, stderr: expect.stringContaining("channels") });
      const ran = asked(redis.url);
      // After the start of the run, Redis loses its keys and has no memory left.
      await waitUntil(async () => (await client.keys("geoferry:work-*:prioritized")).length > 0);
      await full();
      await client.flushall();
      expect(await ran).toEqual({ status: 8, stderr: expect.stringContaining("OOM") });
      client.disconnect();
    } finally {
      await redis.stop();
    }
  });

  test.each(["http://127.0.0.1", "redis", "redis://h/words"])("the queue address %s is refused", async (url) => {
    expect((await asked(url)).status).toBe(2);
  });
});
