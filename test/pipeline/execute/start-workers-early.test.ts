import { truncateSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { afterAll, describe, expect, test, vi } from "vitest";
import { convert } from "../../../src/pipeline/convert.js";
import { isSingleThreadFaster, startWorkersEarly } from "../../../src/pipeline/execute/choose-executor.js";
import { chooseWriter } from "../../../src/pipeline/plan/plan-outputs.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { createTestHost } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

const host = createTestHost();
const small = scratch.path("small.csv");
const large = scratch.path("large.csv");
writeFileSync(small, "lon,lat\n1,2\n");
writeFileSync(large, "lon,lat\n1,2\n");
// No one reads it here: it only has to be large.
truncateSync(large, 192 * 1024 * 1024);

/** How many threads begin before the input is opened. */
async function begun(request: Partial<ConvertRequest>): Promise<number> {
  const whole = { inputs: [small], output: scratch.path("out.geojson"), ...request };
  await using pool = await startWorkersEarly(whole, host, chooseWriter(whole, host));
  return pool?.parallelism ?? 0;
}

describe("threads begin before the inputs are opened", () => {
  test("the requested number of threads starts before the inputs are opened", async () => {
    expect(await begun({ workers: 3 })).toBe(3);
    expect(await begun({ workers: 1 })).toBe(0);
  });

  test("threads start early for large files, as many as there are cores", async () => {
    expect(await begun({ inputs: [large] })).toBe(availableParallelism() > 1 ? availableParallelism() : 0);
    expect(await begun({ inputs: [small] })).toBe(0);
    if (availableParallelism() === 2)
      expect(await begun({ inputs: [large], output: scratch.path("out.gpkg") })).toBe(0);
  });

  test("many threads start for smaller files than two threads", () => {
    const mebibyte = 1024 * 1024;
    expect([15, 16].map((size) => isSingleThreadFaster(size * mebibyte, 8))).toEqual([true, false]);
    expect([191, 192].map((size) => isSingleThreadFaster(size * mebibyte, 2))).toEqual([true, false]);
    // Numbers that are not made to text leave less to be shared.
    expect([511, 512].map((size) => isSingleThreadFaster(size * mebibyte, 2, false))).toEqual([true, false]);
  });

  test("no threads start early if features are counted in order or the size is unknown", async () => {
    expect(await begun({ inputs: [large], limit: 5 })).toBe(0);
    expect(await begun({ inputs: ["https://example.org/large.csv", "gone.csv", "-", "a\0b"] })).toBe(0);
  });

  test("threads that started early end if an input cannot be opened", async () => {
    const ended = vi.spyOn(Worker.prototype, "terminate");
    const request = { inputs: [scratch.path("gone.csv")], output: scratch.path("none.geojson"), workers: 2 };
    await expect(convert(request, host)).rejects.toMatchObject({ code: "input-missing" });
    expect(ended).toHaveBeenCalledTimes(2);
  });
});
