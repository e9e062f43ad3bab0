/**
 * The client reports writes correctly under random faults: an answered write was applied once, a refused or thrown one
 * was not, and only an in-doubt one may be either.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asGeoferryError } from "../../../src/errors.js";
import { readCompleteSet } from "../../../src/remote/client/complete-set.js";
import type { MapClient, WriteOutcome } from "../../../src/remote/client/map-client.js";
import { createServiceClient } from "../../../src/remote/client/service-client.js";
import type { WireFeature } from "../../../src/remote/wire.js";
import type { FaultChooser } from "../../support/servers/fault-proxy.js";
import { atRandom, transientFaults } from "../../support/servers/proxy-faults.js";
import { startProxiedFixture } from "../../support/sync/proxied-fixture.js";
import { scenarioRuns } from "../../support/sync/scenario-runs.js";
import { createPlace } from "../../support/sync/sync-fixture.js";

const { world, proxy } = await startProxiedFixture();

const traffic = { timeout: 5000, retries: 3, rate: null, concurrency: 4, firstRetryDelay: 1 };
const runs = scenarioRuns(60);

const version = (title: number) => ["a", "b"].map((ref) => createPlace(ref, { title }));
const texts = (title: number) => version(title).map((one) => JSON.stringify(one));

type Method = "create" | "update" | "replaceAll" | "remove";
interface Write {
  readonly send: (map: MapClient) => Promise<WriteOutcome>;
  /** Keys and titles on the map afterwards; a 0 and b 0 existed before. */
  readonly makes: readonly string[];
}

const writes: Readonly<Record<Method, Write>> = {
  create: { send: (map) => map.create(texts(1), "one-batch"), makes: ["a 0", "a 1", "b 0", "b 1"] },
  update: { send: (map) => map.update(texts(1), "ref", "one-batch"), makes: ["a 1", "b 1"] },
  replaceAll: {
    send: async (map) => map.replaceAll((await readCompleteSet({ texts: () => texts(1), missingCount: 0 }, "ref"))!),
    makes: ["a 1", "b 1"],
  },
  remove: { send: (map) => map.remove({ remoteField: "ref", keys: ["a", "b"] }), makes: [] },
};
const before = ["a 0", "b 0"];
const methods = Object.keys(writes) as Method[];

const shown = (features: readonly WireFeature[]): readonly string[] =>
  features.map(({ properties }) => `${properties.ref} ${properties.title}`).sort();

/** Writes once to a separate map during faults. @returns the reported outcome, and the content of the map */
async function tried(method: Method, choice: FaultChooser): Promise<[string, readonly string[]]> {
  const id = await world.newMap();
  await world.fill(id, version(0));
  proxy.calm().choose(choice);
  const map = createServiceClient({ url: proxy.url, ...world.ada }, traffic, new AbortController().signal).map(id);
  const said = await writes[method].send(map).then(
    (outcome) => outcome.kind,
    (error: unknown) => asGeoferryError(error).code,
  );
  await proxy.quiet();
  return [said, shown(await world.features(id))];
}

/** Map contents that the reported outcome allows. */
function possible(method: Method, said: string): readonly (readonly string[])[] {
  const { makes } = writes[method];
  if (said === "answered") return [makes];
  return said === "in-doubt" ? [before, makes] : [before];
}

describe.each(methods)("%s", (method) => {
  test.each(transientFaults.map((fault) => [fault.name, fault] as const))("%s", async (_name, fault) => {
    let happened = false;
    const once: FaultChooser = (request) => {
      if (happened || request.method === "token" || request.method === "GET") return null;
      happened = true;
      return fault;
    };
    const [said, found] = await tried(method, once);
    expect(happened).toBe(true);
    expect(possible(method, said), said).toContainEqual(found);
  });
});

test("the client reports every write correctly under random faults", async () => {
  const scenario = fc.record({
    method: fc.constantFrom(...methods),
    seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    share: fc.constantFrom(0.2, 0.5, 0.9),
  });
  await fc.assert(
    fc.asyncProperty(scenario, async ({ method, seed, share }) => {
      const [said, found] = await tried(method, atRandom(seed, share));
      expect(possible(method, said), said).toContainEqual(found);
    }),
    { numRuns: runs, seed: 20_260_102 },
  );
});

test("reads pages despite faults, or reports that they cannot be read", async () => {
  const id = await world.newMap();
  await world.fill(
    id,
    Array.from({ length: 700 }, (_, i) => createPlace(i, { title: i })),
  );
  const all = shown(await world.features(id));
  const errorCodes = new Set<string>();
  for (let seed = 0; seed < runs; seed++) {
    proxy.calm().choose(atRandom(seed, 0.4));
    const map = createServiceClient({ url: proxy.url, ...world.ada }, traffic, new AbortController().signal).map(id);
    const pages = [map.page(1), map.page(2)];
    const read = await Promise.all(pages).catch((error: unknown) => asGeoferryError(error).code);
    await Promise.allSettled(pages);
    if (typeof read === "string") errorCodes.add(read);
    else expect(shown(read.flatMap((page) => page!.features))).toEqual(all);
  }
  expect(
    [...errorCodes].filter(
      (code) => !["remote-unavailable", "remote-credentials", "remote-protocol-error"].includes(code),
    ),
  ).toEqual([]);
});
