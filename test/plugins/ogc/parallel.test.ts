/** Pages that are requested ahead: in order, within the limits, with the same proof. */
import { readFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { AheadRequests, stepBetween } from "../../../plugins/ogc/service/page-requests.js";
import { withNetworkSettings } from "../../../src/network-settings.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { type Stop, stops } from "./hand-built-services.js";
import { type PagedService, startPaged } from "./paged-services.js";

const scratch = new TemporaryFolder();
const services: PagedService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});
afterAll(() => scratch.remove());

const count = 950;
const from1To = (last: number): number[] => Array.from({ length: last }, (_, n) => n + 1);
const starts = from1To(10).map((n) => (n - 1) * 100);

async function start(kind: "wfs" | "oapif"): Promise<PagedService> {
  const service = await startPaged(kind, stops(count));
  services.push(service);
  return service;
}

let outputs = 0;
async function convert({ address }: PagedService, more: Record<string, string> = {}): Promise<number[]> {
  const output = scratch.path(`output-${outputs++}.geojson`);
  const readerOptions = { pageSize: "100", ...more };
  await withNetworkSettings({ retries: 2 }, () => convertFile(address, output, { readerOptions }));
  const { features } = JSON.parse(readFileSync(output, "utf8")) as { features: { properties: Stop }[] };
  return features.map(({ properties }) => properties.id);
}

/**
 * Counts the requests at the same time. No page behind the first, from which the next ones cannot be known, is sent before
 * `expected` are requested.
 */
function gather(service: PagedService, expected: number): () => number {
  let [now, most] = [0, 0];
  let open: () => void = () => undefined;
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  service.change = async (page, answer) => {
    most = Math.max(most, ++now);
    if (now === expected) open();
    if (page > 0) await isOpen;
    now--;
    return answer;
  };
  return () => most;
}

describe.each(["wfs", "oapif"] as const)("pages that are requested ahead (%s)", (kind) => {
  it.each([[{}, 2] as const, [{ parallel: "1" }, 1] as const, [{ parallel: "4" }, 4] as const])(
    "come in order, once each, with %j",
    async (options, expected) => {
      const service = await start(kind);
      const most = gather(service, expected);
      expect(await convert(service, options)).toEqual(from1To(count));
      expect(most()).toBe(expected);
      expect([...service.starts].sort((a, b) => a - b)).toEqual([...starts, ...starts].sort((a, b) => a - b));
    },
  );

  it("wait when the service says so, all of them", async () => {
    const service = await start(kind);
    let refused = 0;
    const early: number[] = [];
    service.change = async (page, answer) => {
      if (page === 300 && refused === 0) {
        refused = performance.now();
        return { status: 503, headers: { "retry-after": "1" }, body: "busy" };
      }
      // One request may have been under way.
      if (refused > 0 && performance.now() - refused < 900) early.push(page);
      return answer;
    };
    expect(await convert(service, { parallel: "2" })).toEqual(from1To(count));
    expect(early.length).toBeLessThanOrEqual(1);
  });

  it("respect the limit of requests per second", async () => {
    const service = await start(kind);
    const times: number[] = [];
    service.change = (_, answer) => {
      times.push(performance.now());
      return answer;
    };
    await convert(service, { parallel: "4", rate: "40" });
    // 20 requests at most 40 a second.
    expect(times.at(-1)! - times[0]!).toBeGreaterThan(19 * 24);
  });

  it("are refused with the error of the page that fails, behind complete ones", async () => {
    const service = await start(kind);
    service.change = (page, answer) => (page >= 500 ? { status: 404, body: "gone" } : answer);
    await expect(convert(service, { parallel: "4" })).rejects.toMatchObject({ code: "feature-service-refused" });
  });

  it("are complete or refused where the service changes meanwhile", async () => {
    const service = await start(kind);
    let isDone = false;
    service.change = (page, answer) => {
      if (page === 300 && !isDone) {
        isDone = true;
        // The number stays, and features move to pages that were read already.
        service.features = [...service.features.slice(1), { id: 9999, name: "new", x: 3_500_000, y: 5_400_000 }];
      }
      return answer;
    };
    expect(await convert(service, { parallel: "4" })).toEqual([...from1To(count).slice(1), 9999]);
  });
});

describe("the next page", () => {
  const step = (a: string, b: string) => stepBetween(new URL(`http://h/p?${a}`), new URL(`http://h/p?${b}`));
  it("is known only if nothing but its start differs", () => {
    expect(step("limit=10", "limit=10&offset=10")).toEqual({ name: "offset", size: 10 });
    expect(step("STARTINDEX=20&a=b,c", "STARTINDEX=30&a=b,c")).toEqual({ name: "STARTINDEX", size: 10 });
    for (const [a, b] of [
      ["cursor=abc", "cursor=def"],
      ["page=1", "page=2"],
      ["offset=10&s=1", "offset=20&s=2"],
      ["offset=20", "offset=10"],
      ["offset=10&x=1", "offset=20"],
      ["offset=a", "offset=20"],
    ] as const)
      expect(step(a, b)).toBeNull();
  });

  it("is sent as the service wrote its links, and no longer after two wrong guesses", async () => {
    const sent: string[] = [];
    const client = {
      request: async (url: URL) => {
        sent.push(url.search);
        return { status: 200, headers: {}, body: Buffer.alloc(0) };
      },
    };
    const requests = new AheadRequests(client, 2, 1000);
    const check = () => ({ error: null, isTransient: false });
    const get = (search: string) => requests.request(new URL(`http://h/p${search}`), "", check);
    await get("?b=1,2");
    await get("?b=1,2&offset=10");
    expect(sent).toEqual(["?b=1,2", "?b=1,2&offset=10", "?b=1,2&offset=20", "?b=1,2&offset=30"]);
    for (const offset of [27, 44, 50, 60, 70]) await get(`?b=1,2&offset=${offset}`);
    const last = sent.slice(-3);
    expect(last).toEqual(["?b=1,2&offset=50", "?b=1,2&offset=60", "?b=1,2&offset=70"]);
    await requests.close();
  });
});
