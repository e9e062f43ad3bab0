/** A compressed body counts in the memory budget with what it may inflate to. */
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { describeOnEveryStore } from "../service-fixture.js";

const MiB = 1024 * 1024;

describe("inflated bodies", () => {
  describeOnEveryStore(
    (service) => {
      test("a body that inflates a hundred times and more waits for as much memory", async () => {
        const { memory } = service().budgets;
        const body = gzipSync(JSON.stringify({ features: [], x: "a".repeat(64 * 1024) }));
        expect(body.length).toBeLessThan(256);
        await service().features("GET");
        const release = memory.take("other", 32 * MiB - 64 * 1024)!;
        let status = 0;
        const sent = service().features("POST", body, { headers: { "content-encoding": "gzip" } });
        const answered = sent.then((answer) => {
          status = answer.status;
        });
        await pause(500);
        expect(status).toBe(0);
        release();
        await answered;
        expect(status).toBe(200);
        await expect.poll(() => memory.used).toBe(0);
      });
    },
    { memoryBytes: 32 * MiB },
  );
});
