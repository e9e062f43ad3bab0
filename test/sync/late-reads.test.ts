/** A service whose reads lag behind its writes, or that loses what it accepts: nothing is created twice. */
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, utimesSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProxyFault } from "../support/servers/fault-proxy.js";
import {
  cutAfterCommit,
  delayedBy,
  interrupting,
  LateCopy,
  pretending,
  withoutHeaders,
} from "../support/servers/proxy-faults.js";
import { startProxiedFixture } from "../support/sync/proxied-fixture.js";
import { createPlace } from "../support/sync/sync-fixture.js";

const { world, proxy } = await startProxiedFixture();

const nothing = pretending(() => []);
const places = (from: number, to: number, title = "a") =>
  Array.from({ length: to - from }, (_, n) => createPlace(`k${from + n}`, { title }));

/** A map with places k0 to k2. */
async function createMap(tags: "with" | "without"): Promise<string> {
  const map = await world.newMap();
  await world.fill(map, places(0, 3));
  proxy.calm();
  if (tags === "without") proxy.choose(() => withoutHeaders("etag"));
  return map;
}

const push = (map: string, file: string, ...flags: readonly string[]) => {
  const settling = flags.includes("--settle-time") ? [] : ["--settle-time", "20"];
  const args = ["push", file, "--map", map, "--remote-field", "ref", "--yes", ...settling, ...flags];
  return world.geoferry(args, { url: proxy.url });
};

/** Makes the record of a run, and its backup, an hour older. */
function makeOlder(record: string): void {
  const { backup } = JSON.parse(readFileSync(record, "utf8")) as { readonly backup: string };
  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const path of [record, resolve(dirname(record), backup)]) utimesSync(path, hourAgo, hourAgo);
}

const refsOf = async (map: string) =>
  (await world.features(map)).map(({ properties }) => String(properties.ref)).sort();

describe.each(["with", "without"] as const)("%s entity tags", (tags) => {
  test("features that the map does not show yet are not created twice", async () => {
    const map = await createMap(tags);
    const late = new LateCopy();
    proxy.choose(late.choose);
    const file = world.source(places(0, 6));
    const first = await push(map, file, "--mode", "incremental");
    expect(first.status, first.stderr).toBe(10);
    expect(first.stderr).toContain("reported 3 features as created");
    const second = await push(map, file, "--mode", "incremental");
    expect(second.status, second.stderr).toBe(10);
    expect(second.stderr).toContain("an earlier run created 3 features that the map still does not show");
    const [, backup] = /geoferry restore (\S+)/.exec(first.stderr)!;
    const undone = await world.geoferry(["restore", backup!, "--yes"], { url: proxy.url });
    expect(undone.status, undone.stderr).toBe(10);
    late.isLate = false;
    const third = await push(map, file, "--mode", "incremental");
    expect(third.status, third.stderr).toBe(0);
    expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
    expect((await push(map, file, "--mode", "incremental")).status).toBe(0);
  });
});

test("features that a service without tags has lost are created again after an hour, or when the user says so", async () => {
  for (const continues of ["an hour later", "by the advice"]) {
    const map = await createMap("without");
    proxy.on("POST", 1, nothing);
    const file = world.source(places(0, 6));
    expect((await push(map, file, "--mode", "incremental")).status).toBe(10);
    const { status, stderr } = await push(map, file, "--mode", "incremental");
    expect(status, stderr).toBe(10);
    const [, record] = /delete (\S+) to continue now/.exec(stderr)!;
    if (continues === "by the advice") rmSync(record!);
    else makeOlder(record!);
    const again = await push(map, file, "--mode", "incremental");
    expect(again.status, `${continues}: ${again.stderr}`).toBe(0);
    expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
  }
});

test("features that a service with tags has lost are created again at once, since tags prove that no copy is late", async () => {
  const map = await createMap("with");
  proxy.on("POST", 1, nothing);
  const file = world.source(places(0, 6));
  expect((await push(map, file, "--mode", "incremental")).status).toBe(10);
  const again = await push(map, file, "--mode", "incremental");
  expect(again.status, again.stderr).toBe(0);
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
});

test("recreated features that the map does not show yet are not created twice", async () => {
  const map = await createMap("without");
  const late = new LateCopy();
  proxy.choose(late.choose);
  const file = world.source(places(0, 3, "b"));
  const flags = ["--mode", "incremental", "--update-with", "delete-create"];
  expect((await push(map, file, ...flags)).status).toBe(10);
  expect((await push(map, file, ...flags)).status).toBe(10);
  late.isLate = false;
  const last = await push(map, file, ...flags);
  expect(last.status, last.stderr).toBe(0);
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2"]);
});

/** Ends a run as a key or a signal does, after the service has answered a request to create features. */
async function interruptedPush(map: string, file: string, signal: NodeJS.Signals, ...flags: readonly string[]) {
  const ended = await world.geoferry(
    ["push", file, "--map", map, "--settle-time", "20", "--yes", "--concurrency", "1", ...flags],
    {
      url: proxy.url,
      watch: (child) => {
        proxy.on("POST", 1, {
          name: "the client is ended",
          async around(request, upstream) {
            const answer = await upstream.send(request);
            setTimeout(() => child.kill(signal), 150);
            return answer;
          },
        });
        // What follows takes longer.
        proxy.on("GET", proxy.count("GET") + 2, delayedBy(1000), 100);
      },
    },
  );
  proxy.calm();
  return ended;
}

test("a run that is ended before it reads the map again leaves nothing to be created twice", async () => {
  const map = await createMap("without");
  const late = new LateCopy();
  proxy.choose(late.choose);
  const file = world.source(places(0, 6));
  const flags = ["--remote-field", "ref", "--mode", "incremental"];
  expect((await interruptedPush(map, file, "SIGTERM", ...flags)).status).toBe(130);
  proxy.choose(() => withoutHeaders("etag")).choose(late.choose);
  const second = await push(map, file, "--mode", "incremental");
  expect(second.stderr).toContain("an earlier run created 3 features that the map still does not show");
  late.isLate = false;
  const third = await push(map, file, "--mode", "incremental");
  expect(third.status, third.stderr).toBe(0);
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
});

test("features of one scope that the map does not show stop no run with another", async () => {
  const map = await createMap("without");
  const scoped = (value: string) => world.source([createPlace(`${value}1`, { source: value })]);
  const inScope = (value: string) => push(map, scoped(value), "--scope", `source=${value}`, "--mode", "incremental");
  proxy.on("POST", 1, nothing);
  expect((await inScope("a")).status).toBe(10);
  expect((await inScope("a")).stderr).toContain("still does not show");
  const other = await inScope("b");
  expect(other.status, other.stderr).toBe(0);
  // Nor a run of the whole map that does not create what is missing.
  expect((await push(map, scoped("b"), "--mode", "incremental")).status).toBe(0);
  const line = ["push", scoped("a"), "--map", map, "--mode", "append", "--yes"];
  const appended = await world.geoferry(line, { url: proxy.url });
  expect(appended.status, appended.stderr).toBe(0);
});

test("the tag of another client's earlier write is no proof that it removed what a run created", async () => {
  const map = await createMap("with");
  const late = new LateCopy();
  late.isLate = false;
  proxy.choose(late.choose);
  proxy.on("POST", 1, {
    name: "another client was first, and conditions are ignored",
    async around({ headers, ...request }, upstream) {
      await world.fill(map, [createPlace("other")]);
      late.isLate = true;
      const { "if-match": _, ...unconditional } = headers;
      // Fills the copy with the state before this request.
      const path = `${request.path}?page=1&per_page=500`;
      await late.fault.around(
        { ...request, headers: unconditional, method: "GET", path, body: Buffer.alloc(0) },
        upstream,
      );
      return upstream.send({ ...request, headers: unconditional });
    },
  });
  const { status, stderr } = await push(map, world.source(places(0, 6)), "--mode", "incremental");
  expect(status, stderr).toBe(10);
  expect(stderr).toContain("reported 3 features as created, but the map does not show them");
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5", "other"]);
});

test("a lost response does not make a run create features twice if reads lag behind for some seconds", async () => {
  const map = await createMap("without");
  const late = new LateCopy();
  proxy.choose(late.choose);
  proxy.on("POST", 1, cutAfterCommit);
  // The pauses before readings of the map are 1, 2 and 4 times this.
  setTimeout(() => (late.isLate = false), 1500);
  const flags = ["--mode", "incremental", "--settle-time", "400"];
  const { status, stderr } = await push(map, world.source(places(0, 6)), ...flags);
  expect(status, stderr).toBe(0);
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
});

/** The service rejects the last feature of a request, and creates the others. */
const rejectsLast: ProxyFault = {
  name: "rejects the last feature",
  async around(request, upstream) {
    const { features } = JSON.parse(request.body.toString()) as { readonly features: readonly object[] };
    const body = Buffer.from(JSON.stringify({ features: features.slice(0, -1) }));
    const answer = await upstream.send({ ...request, body });
    const failed = [{ id: "", path: `features[${features.length - 1}]`, message: "not allowed" }];
    return { ...answer, body: Buffer.from(JSON.stringify({ ...JSON.parse(answer.body.toString()), failed })) };
  },
};

test.each(["with", "without"] as const)(
  "a rejected feature does not make a run create the others again, %s entity tags",
  async (tags) => {
    const map = await createMap(tags);
    const late = new LateCopy();
    proxy.choose(late.choose);
    proxy.on("POST", 1, rejectsLast);
    const file = world.source(places(0, 6));
    const first = await push(map, file, "--mode", "incremental");
    expect(first.status, first.stderr).toBe(10);
    expect(first.stderr).toContain("reported 2 features as created, but the map does not show them");
    expect((await push(map, file, "--mode", "incremental")).stderr).toContain("created 2 features that the map still");
    late.isLate = false;
    const last = await push(map, file, "--mode", "incremental");
    expect(last.status, last.stderr).toBe(0);
    expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
  },
);

test("an update that a late copy does not show yet is not taken for one that the service ignores", async () => {
  const map = await createMap("without");
  const late = new LateCopy();
  proxy.choose(late.choose);
  proxy.on("PATCH", 1, {
    name: "is shown later",
    async around(request, upstream) {
      setTimeout(() => (late.isLate = false), 600);
      return upstream.send(request);
    },
  });
  const file = world.source(places(0, 6, "b"));
  const { status, stderr } = await push(map, file, "--mode", "incremental", "--settle-time", "200");
  expect(status, stderr).toBe(0);
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
  expect((await world.features(map)).map(({ properties }) => properties.title)).toEqual(Array(6).fill("b"));
});

test.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
  "matched by id, the next run finds the features that a run created before %s, also if the source has changed",
  async (signal) => {
    const map = await createMap("with");
    const withIds = (await world.features(map)).map(
      (feature) => ({ ...feature }) as unknown as ReturnType<typeof createPlace>,
    );
    const file = world.source([...withIds, ...places(3, 6)]);
    const flags = ["--match", "id", "--mode", "incremental"];
    const { status, stderr } = await interruptedPush(map, file, signal, ...flags);
    expect(status, stderr).not.toBe(0);
    expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
    const changed = world.source([...withIds, ...places(3, 7)]);
    for (const source of signal === "SIGKILL" ? [file, file, changed, changed] : [changed, file, changed]) {
      const next = await world.geoferry(["push", source, "--map", map, "--yes", ...flags], { url: proxy.url });
      expect(next.status, next.stderr).toBe(0);
    }
    expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5", "k6"]);
  },
);

test("matched by id, a feature with an unknown id is updated if it was edited after a run that was ended had created it", async () => {
  const map = await createMap("with");
  const foreign = places(3, 6).map((place) => ({ ...place, id: randomUUID() }));
  const flags = ["--match", "id", "--mode", "incremental"];
  expect((await interruptedPush(map, world.source(foreign), "SIGKILL", ...flags)).status).toBeNull();
  const edited = foreign.map((place, n) =>
    n === 1 ? { ...place, properties: { ref: "k4", title: "edited" } } : place,
  );
  const next = await world.geoferry(["push", world.source(edited), "--map", map, "--yes", ...flags], {
    url: proxy.url,
  });
  expect(next.status, next.stderr).toBe(0);
  expect(await refsOf(map)).toEqual(["k0", "k1", "k2", "k3", "k4", "k5"]);
  expect((await world.features(map)).filter(({ properties }) => properties.title === "edited")).toHaveLength(1);
});

test("ids in responses and on pages may differ in case", async () => {
  const map = await createMap("without");
  proxy.on("POST", 1, {
    name: "answers in upper case",
    async around(request, upstream) {
      const answer = await rejectsLast.around(request, upstream);
      const { success, failed } = JSON.parse(answer.body.toString()) as { success: { id: string }[]; failed: unknown };
      const upper = success.map((one) => ({ ...one, id: one.id.toUpperCase() }));
      return { ...answer, body: Buffer.from(JSON.stringify({ success: upper, failed })) };
    },
  });
  const { status, stderr } = await push(map, world.source(places(0, 6)), "--mode", "incremental");
  expect(status, stderr).toBe(5);
  expect(stderr).toContain("not allowed");
});

test("deletes that a late copy does not show yet are not taken for deletes that the service ignores", async () => {
  const map = await createMap("without");
  const late = new LateCopy();
  proxy.choose(late.choose);
  proxy.on("DELETE", 1, {
    name: "is shown later",
    async around(request, upstream) {
      setTimeout(() => (late.isLate = false), 600);
      return upstream.send(request);
    },
  });
  const line = ["delete", world.source(places(0, 2)), "--map", map, "--remote-field", "ref", "--yes"];
  const flags = ["--max-delete", "2", "--settle-time", "200"];
  const { status, stderr } = await world.geoferry([...line, ...flags], { url: proxy.url });
  expect(status, stderr).toBe(0);
  expect(await refsOf(map)).toEqual(["k2"]);
});

test("an interrupted apply says that its plan no longer fits", async () => {
  const map = await createMap("with");
  const plan = `${world.folder}/${map}.plan`;
  const source = world.source(Array.from({ length: 2500 }, (_, n) => createPlace(`k${n}`, { title: "b" })));
  const flags = ["--map", map, "--remote-field", "ref", "--mode", "incremental"];
  expect((await world.geoferry(["plan", source, ...flags, "-o", plan], { url: proxy.url })).status).toBe(0);
  const { status, stderr } = await world.geoferry(["apply", plan, "--yes", "--concurrency", "1"], {
    url: proxy.url,
    watch: (child) => {
      proxy.on("POST", 1, interrupting(child));
    },
  });
  expect(status, stderr).toBe(130);
  expect(stderr).toContain("make a new plan of what is left");
});
