/**
 * Rounds of two and of five clients that push to one map at once: no feature is duplicated or lost. A short version with
 * the same sources in every run; `npm run rounds` plays any number.
 */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServiceProcess } from "../../service/service-process.js";
import { createRandom } from "../../support/random.js";
import { AlternativeService } from "../../support/servers/alternative-service.js";
import { FaultProxy, type ProxyFault } from "../../support/servers/fault-proxy.js";
import { rejectPatch, withoutHeaders } from "../../support/servers/proxy-faults.js";
import {
  conflictsWithoutEntityTags,
  playRound,
  type RoundFixture,
  type RoundKind,
  type RoundResult,
  roundsWithEntityTags,
  roundsWithoutEntityTags,
} from "../../support/sync/concurrent-rounds.js";
import { describeOnEveryFixture, type Place, type SyncFixture } from "../../support/sync/sync-fixture.js";

const { GEOFERRY_ROUNDS = "4", GEOFERRY_ROUNDS_WITHOUT_TAGS = "3", GEOFERRY_ROUNDS_REPORT } = process.env;
const { GEOFERRY_ROUNDS_SEED = "4" } = process.env;
const rounds = Number(GEOFERRY_ROUNDS);
const roundsWithoutTags = Number(GEOFERRY_ROUNDS_WITHOUT_TAGS);
const seed = Number(GEOFERRY_ROUNDS_SEED);

/** Minutes instead of seconds for many rounds. */
const timeout = 60_000 + 20_000 * Math.max(rounds, roundsWithoutTags);

const allDone = ({ ends, wrong }: RoundResult): boolean => ends.every((end) => end === "done") && wrong.length === 0;

/** Without tags, a client cannot tell the other content of another client from a service that did not keep its own. */
const allDoneOrReplaced = ({ kind, ends, wrong }: RoundResult): boolean =>
  wrong.length === 0 &&
  ends.includes("done") &&
  ends.every((end) => end === "done" || (kind.sources === "differing" && end === "writes-not-kept"));

/** Plays rounds of alternating kinds. @returns those that are not `right`, with their numbers */
async function play(
  title: string,
  world: RoundFixture,
  { kinds, clients, count }: { readonly kinds: readonly RoundKind[]; readonly clients: number; readonly count: number },
  right: (result: RoundResult) => boolean = allDone,
): Promise<unknown[]> {
  const bad: unknown[] = [];
  for (let n = 0; n < count; n++) {
    // Each round has its own seed, so that it can be replayed alone.
    const result = await playRound(world, kinds[(seed + n) % kinds.length]!, clients, createRandom(seed + n));
    if (GEOFERRY_ROUNDS_REPORT) appendFileSync(GEOFERRY_ROUNDS_REPORT, `${JSON.stringify({ title, ...result })}\n`);
    if (!right(result)) bad.push({ seed: seed + n, ...result });
  }
  return bad;
}

const worldOf = (world: SyncFixture, urls: readonly string[]): RoundFixture => ({
  ...{ urls, as: world.ada, folder: world.folder, decimals: 7 },
  newMap: () => world.newMap(),
  features: (map) => world.features(map),
  fill: (map, places) => world.fill(map, places),
  source: (places) => world.source(places),
});

/** Responses take a random time, so that rounds differ. */
const unevenly: ProxyFault = {
  name: "uneven",
  async around(request, upstream) {
    await pause(Math.random() * 20);
    const answer = await upstream.send(request);
    await pause(Math.random() * 20);
    return answer;
  },
};

await describeOnEveryFixture((kind) => {
  let world: SyncFixture;
  const others: ServiceProcess[] = [];
  const proxies: FaultProxy[] = [];
  beforeAll(async () => {
    world = await kind.start();
    if (kind.name === "PostgreSQL")
      for (let n = 0; n < 2; n++)
        others.push(await ServiceProcess.start([...world.store, "--log-level", "silent", "--quiet"]));
    proxies.push(await FaultProxy.start(world.url));
    proxies[0]!.always(
      withoutHeaders("etag", "link", "if-match", "if-none-match", "idempotency-key", "idempotency-replayed"),
      rejectPatch(405),
      unevenly,
    );
  }, 120_000);
  afterAll(async () => {
    await Promise.all(others.map((one) => one.end()));
    await Promise.all(proxies.map((one) => one[Symbol.asyncDispose]()));
  });

  describe.each([2, 5])("%i clients", (clients) => {
    it("pushing with entity tags loses and duplicates nothing", { timeout }, async () => {
      const title = `${kind.name}, ${clients} clients`;
      expect(
        await play(title, worldOf(world, [world.url]), { kinds: roundsWithEntityTags, clients, count: rounds }),
      ).toEqual([]);
    });

    it.runIf(kind.name === "PostgreSQL")(
      "pushing to three service processes loses and duplicates nothing",
      { timeout },
      async () => {
        const urls = [world.url, ...others.map(({ url }) => url)];
        const title = `${kind.name}, three processes, ${clients} clients`;
        expect(
          await play(title, worldOf(world, urls), { kinds: roundsWithEntityTags, clients, count: rounds }),
        ).toEqual([]);
      },
    );

    it("pushing without entity tags, PATCH and Idempotency-Key loses and duplicates nothing", { timeout }, async () => {
      const title = `${kind.name} without tags, ${clients} clients`;
      const asked = { kinds: roundsWithoutEntityTags, clients, count: roundsWithoutTags };
      expect(await play(title, worldOf(world, [proxies[0]!.url]), asked, allDoneOrReplaced)).toEqual([]);
    });
  });
});

describe("a service that implements only the interface", () => {
  let odd: AlternativeService;
  let proxy: FaultProxy;
  let world: RoundFixture;
  const folder = mkdtempSync(join(tmpdir(), "geoferry-rounds-"));
  beforeAll(async () => {
    odd = await AlternativeService.start();
    proxy = (await FaultProxy.start(odd.url)).always(unevenly);
    let files = 0;
    world = {
      ...{ urls: [proxy.url], as: odd, folder, decimals: 6 },
      newMap: () => odd.newMap(),
      features: async (map) => odd.featuresOf(map) as Awaited<ReturnType<RoundFixture["features"]>>,
      fill: async (map, places) => odd.fill(map, places),
      source(places: readonly Place[]) {
        const path = join(folder, `source-${files++}.geojsonl`);
        writeFileSync(path, places.map((one) => `${JSON.stringify(one)}\n`).join(""));
        return path;
      },
    };
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await odd[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  describe.each([2, 5])("%i clients", (clients) => {
    it("pushing equal features leaves each once", { timeout }, async () => {
      const asked = { kinds: roundsWithoutEntityTags, clients, count: roundsWithoutTags };
      expect(await play(`interface alone, ${clients} clients`, world, asked)).toEqual([]);
    });

    it("clients that push different features: the last one reports duplicate keys or a failed update", {
      timeout,
    }, async () => {
      const asked = { kinds: conflictsWithoutEntityTags, clients, count: roundsWithoutTags };
      const reportedCodes = ["duplicates-created", "duplicate-key-on-map", "update-unsupported"];
      const isTold = ({ ends, wrong }: RoundResult) =>
        ends.every((end) => end === "done" || reportedCodes.includes(end)) &&
        (wrong.length === 0 || ends.some((end) => reportedCodes.includes(end)));
      expect(await play(`interface alone, differing, ${clients} clients`, world, asked, isTold)).toEqual([]);
    });
  });
});
