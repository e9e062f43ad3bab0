/** Large bodies of concurrent requests, and the requests of other clients beside them. */
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { parseCollection, UnparsedFeature } from "../../../src/service/features/parse-collection.js";
import { toWriteItems } from "../../../src/service/features/write-items.js";
import { BlockingWork } from "../../../src/service/limits/blocking-work.js";
import { defaultSettings } from "../../../src/service/settings.js";

/** A request of another client needs several turns of the event loop: connection, token, body, response. */
const turnsOfRequest = 5;

/** Starts all at once; returns the number of turns of the event loop between the first end and the last one. */
async function countTurnsBetween(works: readonly (() => Promise<unknown>)[]): Promise<number> {
  let turns = 0;
  const ends: number[] = [];
  const running = works.map(async (work) => {
    await work();
    ends.push(turns);
  });
  while (ends.length < works.length) {
    await turn();
    turns++;
  }
  await Promise.all(running);
  return ends.at(-1)! - ends[0]!;
}

/** A feature of 1.2 MB that is not in canonical form; its last position is invalid. */
const positions = `${"[1, 2],".repeat(150_000)}[1, 999]`;
const large = `{"type":"Feature","geometry":{"type":"MultiPoint","coordinates":[${positions}]},"properties":{}}`;
const body = `{"features":[${large}]}`;

describe("concurrent large features", () => {
  test("other requests run between parsing one body and the next", async () => {
    const parse = () => parseCollection(body, defaultSettings);
    expect(await countTurnsBetween([parse, parse, parse])).toBeGreaterThan(2 * turnsOfRequest);
  });

  test("other requests run between validating one feature and the next", async () => {
    const validate = () => toWriteItems("create", [new UnparsedFeature(large)], null);
    expect(await countTurnsBetween([validate, validate, validate])).toBeGreaterThan(2 * turnsOfRequest);
  });

  test("the result is the same", async () => {
    const { features } = (await parseCollection(body, defaultSettings)) as { features: unknown[] };
    const { items } = await toWriteItems("create", features, null);
    expect(items).toMatchObject([{ index: 0, failure: { path: "geometry.coordinates[150000][1]" } }]);
  });
});

describe("blocking work", () => {
  test("continues after a step that throws, in the order of the calls", async () => {
    const work = new BlockingWork();
    const order: number[] = [];
    const failing = work.run(() => {
      order.push(1);
      throw new SyntaxError("not JSON");
    });
    const next = work.run(() => order.push(2));
    await expect(failing).rejects.toThrow("not JSON");
    await next;
    expect(order).toEqual([1, 2]);
  });
});
