/** Layers of a Koop server: all features arrive, in order, once each, through a faulty proxy; or none. */
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { withNetworkSettings } from "../../../src/network-settings.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { startGeoferry } from "../../support/command.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { AnsweringServer, type ArcgisRequest } from "../../support/servers/answering-server.js";
import { type KoopFeature, KoopServer, koopPoints } from "../../support/servers/koop.js";

const scratch = new TemporaryFolder();
let koop: KoopServer;
const count = 25_000;
const points = koopPoints(count);
beforeAll(async () => {
  koop = await KoopServer.start(points);
});
beforeEach(() => {
  koop.features = points;
});
afterAll(async () => {
  await koop.close();
  scratch.remove();
});

interface Converted {
  readonly id: number;
  readonly name: string;
  readonly seen: string;
}

let outputs = 0;

/** Converts a layer to GeoJSON; the properties of the features, in their order. */
async function convertLayer(address: string, request: Partial<ConvertRequest> = {}): Promise<Converted[]> {
  const output = scratch.path(`output-${outputs++}.geojson`);
  await withNetworkSettings({ retries: 3, timeout: 3000 }, () => convertFile(address, output, request));
  const { features } = JSON.parse(readFileSync(output, "utf8")) as { features: { properties: Converted }[] };
  return features.map(({ properties }) => properties);
}

const ids = (features: readonly Converted[]): number[] => features.map(({ id }) => id);
const from1To = (last: number): number[] => Array.from({ length: last }, (_, n) => n + 1);

/** Not the few features that filters are tested with. */
const isPage = ({ parameters }: ArcgisRequest): boolean =>
  parameters.has("outFields") && parameters.has("resultRecordCount") === parameters.has("resultOffset");

/** Converts through a proxy that changes answers. */
async function throughProxy(
  change: Parameters<typeof AnsweringServer.proxy>[1],
  request: Partial<ConvertRequest> = {},
): Promise<{ readonly found: Converted[]; readonly proxy: AnsweringServer }> {
  const proxy = await AnsweringServer.proxy(koop.origin, change);
  try {
    const address = koop.service.replace(koop.origin, proxy.origin);
    return { found: await convertLayer(`${address}/0`, request), proxy };
  } finally {
    await proxy.close();
  }
}

const expectNoOutput = () => {
  expect(existsSync(scratch.path(`output-${outputs - 1}.geojson`))).toBe(false);
  expect(readdirSync(scratch.folder).filter((name) => !/^output-\d+\.geojson$/.test(name))).toEqual([]);
};

type Features = { attributes: { id: number } }[];
const featuresIn = (answer: Record<string, unknown>): Features => answer.features as Features;

describe("a layer of 25,000 features with pages of 1,000", () => {
  it("arrives completely, in order, once each, in 25 pages", async () => {
    const { found, proxy } = await throughProxy((_, answer) => answer);
    expect(ids(found)).toEqual(from1To(count));
    expect(found[24_999]).toMatchObject({ name: "place 25000", seen: "2023-11-15T05:09:59Z", height: 24_999.5 });
    const pages = proxy.requests.filter(isPage).map(({ parameters }) => parameters.get("resultOffset"));
    expect(pages).toEqual(Array.from({ length: 25 }, (_, n) => String(n * 1000)));
  }, 120_000);
});

describe("a layer behind a faulty proxy", () => {
  beforeEach(() => {
    koop.features = points.slice(0, 5000);
  });

  it("arrives where connections break, answers are delayed, cut or errors, and pages are refused", async () => {
    let n = 0;
    const { found } = await throughProxy(async (asked, answer) => {
      if (!isPage(asked)) return answer;
      n++;
      if (n === 2) return null;
      if (n === 4) return { error: { code: 500, message: "Error performing query operation", details: [] } };
      if (n === 6) return { body: JSON.stringify(answer).slice(0, 5000) };
      if (n === 8) return { status: 503, headers: { "retry-after": "1" }, body: "busy" };
      if (n === 9) return { body: "<html><body>Bad gateway</body></html>", headers: { "content-type": "text/html" } };
      if (n === 3) await sleep(500);
      return answer;
    });
    expect(ids(found)).toEqual(from1To(5000));
    expect(n).toBe(10);
  });

  it("arrives where pages are empty, doubled, shuffled, shifted or have gaps", async () => {
    let n = 0;
    const { found } = await throughProxy((asked, answer) => {
      if (!isPage(asked) || asked.parameters.has("objectIds")) return answer;
      const features = featuresIn(answer);
      n++;
      if (n === 1) return { ...answer, features: [] };
      if (n === 2) return { ...answer, features: [...features, ...features] };
      if (n === 3) return { ...answer, features: [...features].reverse() };
      if (n === 4) return { ...answer, features: features.filter((_, k) => k % 7 !== 0) };
      return { ...answer, features: features.slice(100) };
    });
    expect(ids(found)).toEqual(from1To(5000));
  });

  it("arrives where the service sends fewer features at once than it says", async () => {
    const { found, proxy } = await throughProxy((asked, answer) => {
      if (!isPage(asked)) return answer;
      return { ...answer, features: featuresIn(answer).slice(0, 300), exceededTransferLimit: true };
    });
    expect(ids(found)).toEqual(from1To(5000));
    expect(proxy.requests.some(({ parameters }) => parameters.has("objectIds"))).toBe(false);
  });

  it("arrives in smaller pages where the service fails at large ones", async () => {
    const { found } = await throughProxy((asked, answer) => {
      if (!isPage(asked) || featuresIn(answer).length <= 300) return answer;
      return { error: { code: 400, message: "Unable to complete operation.", details: ["Unable to perform query."] } };
    });
    expect(ids(found)).toEqual(from1To(5000));
  });

  it("arrives by ranges of ids where the layer cannot page", async () => {
    const { found, proxy } = await throughProxy((asked, answer) => {
      if (asked.parameters.has("resultOffset"))
        return { error: { code: 400, message: "Pagination is not supported." } };
      return "advancedQueryCapabilities" in answer
        ? { ...answer, advancedQueryCapabilities: { supportsPagination: false } }
        : answer;
    });
    expect(ids(found)).toEqual(from1To(5000));
    expect(proxy.requests.find(isPage)!.parameters.get("where")).toBe("id >= 1 AND id <= 1000");
  });

  it("arrives by lists of ids where the service refuses all else", async () => {
    const { found, proxy } = await throughProxy((asked, answer) =>
      isPage(asked) && !asked.parameters.has("objectIds") ? { error: { code: 400, message: "Invalid query" } } : answer,
    );
    expect(ids(found)).toEqual(from1To(5000));
    const lists = proxy.requests.filter(({ parameters }) => parameters.has("objectIds"));
    expect(lists.map(({ method }) => method)).toEqual(["POST", "POST", "POST", "POST", "POST"]);
  });

  it("is refused without an output where a feature never comes", async () => {
    const change: Parameters<typeof throughProxy>[0] = (asked, answer) =>
      isPage(asked)
        ? { ...answer, features: featuresIn(answer).filter(({ attributes }) => attributes.id !== 4321) }
        : answer;
    await expect(throughProxy(change)).rejects.toMatchObject({
      code: "feature-service-incomplete",
      kind: "unavailable",
      message: expect.stringContaining("4321"),
    });
    expectNoOutput();
  });

  it("is refused without an output where count and ids differ", async () => {
    await expect(
      throughProxy((_, answer) => ("count" in answer ? { count: (answer.count as number) + 1 } : answer)),
    ).rejects.toMatchObject({ code: "feature-service-incomplete", message: expect.stringContaining("5001") });
    expectNoOutput();
  });

  it("is refused without an output where a page fails for good", async () => {
    await expect(
      throughProxy((asked, answer) =>
        isPage(asked) && featuresIn(answer).some(({ attributes }) => attributes.id === 3500)
          ? { error: { code: 400, message: "Invalid geometry", details: [] } }
          : answer,
      ),
    ).rejects.toMatchObject({ code: "feature-service-refused", message: expect.stringContaining("Invalid geometry") });
    expectNoOutput();
  });
});

describe("a layer that is edited while it is read", () => {
  beforeEach(() => {
    koop.features = points.slice(0, 3000);
  });

  /** Edits the layer after a page, in the first `times` attempts. */
  const editing = (times: number, edit: (features: readonly KoopFeature[]) => readonly KoopFeature[]) => {
    let attempts = 0;
    return (asked: ArcgisRequest, answer: Record<string, unknown>) => {
      if (isPage(asked) && asked.parameters.get("resultOffset") === "1000" && attempts++ < times)
        koop.features = edit(koop.features);
      return answer;
    };
  };
  let lastId = 100_000;
  const added = (features: readonly KoopFeature[]) => [
    ...features,
    { ...points[0]!, properties: { ...points[0]!.properties, id: ++lastId } },
  ];

  it("is read again after a feature was added", async () => {
    const { found } = await throughProxy(editing(1, added));
    expect(ids(found)).toEqual([...from1To(3000), lastId]);
  });

  it("is read again after features were deleted", async () => {
    const { found } = await throughProxy(editing(1, (features) => features.filter((_, n) => n !== 5 && n !== 2500)));
    expect(ids(found)).toEqual(from1To(3000).filter((id) => id !== 6 && id !== 2501));
  });

  it("is read again after a feature was replaced by another", async () => {
    const { found } = await throughProxy(editing(2, (features) => added(features.slice(1))));
    expect(found).toHaveLength(3000);
    expect(ids(found)).not.toContain(1);
  });

  it("is read again after a feature was edited, where the service says when", async () => {
    let edited = 1000;
    let pages = 0;
    const { found } = await throughProxy((asked, answer) => {
      if (isPage(asked) && pages++ === 1) {
        edited = 2000;
        koop.features = koop.features.map((each, n) =>
          n === 3 ? { ...each, properties: { ...each.properties, name: "renamed" } } : each,
        );
      }
      return "objectIdField" in answer ? { ...answer, editingInfo: { lastEditDate: edited } } : answer;
    });
    expect(found[3]!.name).toBe("renamed");
  });

  it("is refused without an output where it never rests", async () => {
    await expect(throughProxy(editing(99, added))).rejects.toMatchObject({
      code: "feature-service-changed",
      kind: "unavailable",
      message: expect.stringContaining("each of 3 attempts"),
    });
    expectNoOutput();
  });
});

describe("filters", () => {
  beforeEach(() => {
    koop.features = points.slice(0, 4000);
  });

  it("are applied by the service where it gives the same, and by geoferry always", async () => {
    const where = "id > 1990 and id <= 2010 and name <> 'place 2000'";
    const { found, proxy } = await throughProxy((_, answer) => answer, { where });
    expect(ids(found)).toEqual(from1To(2010).filter((id) => id > 1990 && id !== 2000));
    const page = proxy.requests.find(isPage)!;
    expect(page.parameters.get("where")).toBe("id > 1990 AND id <= 2010");
  });

  it("that the service refuses are applied by geoferry alone", async () => {
    const refuse = (asked: ArcgisRequest, answer: Record<string, unknown>) =>
      (asked.parameters.get("where") ?? "1=1") === "1=1" ? answer : { error: { code: 400, message: "Invalid where" } };
    const { found } = await throughProxy(refuse, { where: "id > 3990" });
    expect(ids(found)).toEqual(from1To(4000).slice(3990));
  });

  it("for a box ask for the box only, in coordinates of the layer", async () => {
    const { found, proxy } = await throughProxy((_, answer) => answer, { bbox: [10.1, 49.9, 10.2, 50.015] });
    // Columns 10 to 20 of the rows 0 and 1.
    const wanted = [0, 1].flatMap((row) => from1To(11).map((n) => row * 500 + 10 + n));
    expect(ids(found)).toEqual(wanted);
    const pages = proxy.requests.filter(isPage);
    expect(pages).toHaveLength(1);
    expect(JSON.parse(pages[0]!.parameters.get("geometry")!)).toMatchObject({ xmin: expect.closeTo(10.1, 4) });
  });
});

describe("a service", () => {
  it("is read with all its layers, or those that are named", async () => {
    koop.features = points.slice(0, 10);
    expect(ids(await convertLayer(koop.service))).toEqual(from1To(10));
    expect(ids(await convertLayer(`arcgis:${koop.service}/`, { layers: ["places"] }))).toEqual(from1To(10));
    await expect(convertLayer(koop.service, { layers: ["roads"] })).rejects.toMatchObject({ code: "layer-missing" });
  });
});

describe("an interrupted download", () => {
  const kept = scratch.path("kept");
  const request = { readerOptions: { resume: kept } };
  /** Adds the time of the last edit, and breaks all after a number of pages. */
  const breaking = (pages: number, edited: number) => {
    let n = 0;
    return (asked: ArcgisRequest, answer: Record<string, unknown>) => {
      if (isPage(asked) && n++ >= pages) return null;
      return "objectIdField" in answer ? { ...answer, editingInfo: { lastEditDate: edited } } : answer;
    };
  };
  const offsets = ({ requests }: AnsweringServer) =>
    requests.filter(isPage).map(({ parameters }) => Number(parameters.get("resultOffset")));
  /** A proxy at the same port as before, so that the address is the same. */
  const convertTwice = async (
    first: Parameters<typeof throughProxy>[0],
    second: typeof first,
    between: () => void = () => undefined,
  ) => {
    let change = first;
    const proxy = await AnsweringServer.proxy(koop.origin, (asked, answer) => change(asked, answer));
    const address = `${koop.service.replace(koop.origin, proxy.origin)}/0`;
    try {
      await expect(
        withNetworkSettings({ retries: 0 }, () => convertFile(address, scratch.path("no.geojson"), request)),
      ).rejects.toMatchObject({ code: "input-unavailable" });
      const before = proxy.requests.length;
      change = second;
      between();
      const found = await convertLayer(address, request);
      return { found, asked: offsets({ requests: proxy.requests.slice(before) } as AnsweringServer) };
    } finally {
      await proxy.close();
    }
  };
  beforeEach(() => {
    koop.features = points.slice(0, 5000);
  });

  it("is continued by the same command, and leaves nothing behind", async () => {
    const { found, asked } = await convertTwice(breaking(3, 1000), breaking(99, 1000));
    expect(asked).toEqual([3000, 4000]);
    expect(ids(found)).toEqual(from1To(5000));
    expect(readdirSync(kept)).toEqual([]);
  });

  /** Replaces text in the kept file with this extension. */
  const edit = (extension: string, from: RegExp, to: string) => () => {
    const [name] = readdirSync(kept).filter((each) => each.endsWith(extension));
    const path = join(kept, name!);
    const text = readFileSync(path, "latin1");
    expect(text).toMatch(from);
    writeFileSync(path, text.replace(from, to), "latin1");
  };

  it.each([
    ["a feature", edit(".features", /"id":17,/, '"id":18,')],
    ["its bytes", edit(".features", /.{300}/s, "\0".repeat(300))],
    ["the size", edit(".json", /"size":\d+/, '"size":1000')],
    ["the number of records", edit(".json", /"records":3000/, '"records":4000')],
    ["the ranges", edit(".json", /"ranges":\[/, '"ranges":[7,')],
  ])(
    "starts again if another program changed %s",
    async (_, between) => {
      const { found, asked } = await convertTwice(breaking(3, 1000), breaking(99, 1000), between);
      expect(asked).toEqual([0, 1000, 2000, 3000, 4000]);
      expect(ids(found)).toEqual(from1To(5000));
    },
    60_000,
  );

  it("starts again if the layer was edited since", async () => {
    const { found, asked } = await convertTwice(breaking(3, 1000), breaking(99, 2000));
    expect(asked).toEqual([0, 1000, 2000, 3000, 4000]);
    expect(ids(found)).toEqual(from1To(5000));
  });

  it("starts again if the service does not say when it was edited", async () => {
    const plain = (pages: number) => {
      const change = breaking(pages, 0);
      return (asked: ArcgisRequest, answer: Record<string, unknown>) =>
        change(asked, answer) === null ? null : answer;
    };
    const { found, asked } = await convertTwice(plain(3), plain(99));
    expect(asked).toHaveLength(5);
    expect(ids(found)).toEqual(from1To(5000));
  });

  it("is continued after the process was killed", async () => {
    let isStuck = true;
    const asked: number[] = [];
    let notify: () => void = () => undefined;
    const isAsked = new Promise<void>((resolve) => {
      notify = resolve;
    });
    const proxy = await AnsweringServer.proxy(koop.origin, (request, answer) => {
      const offset = Number(request.parameters.get("resultOffset"));
      if (isPage(request)) asked.push(offset);
      if (isPage(request) && offset === 3000 && isStuck) {
        notify();
        return new Promise(() => undefined);
      }
      return "objectIdField" in answer ? { ...answer, editingInfo: { lastEditDate: 1000 } } : answer;
    });
    const address = `${koop.service.replace(koop.origin, proxy.origin)}/0`;
    const output = scratch.path("killed.csv");
    const args = ["convert", address, output, "--in", `resume=${kept}`, "--in", "parallel=1"];
    try {
      const child = startGeoferry(args);
      await isAsked;
      child.kill("SIGKILL");
      await once(child, "close");
      isStuck = false;
      asked.length = 0;
      const [status] = (await once(startGeoferry(args), "close")) as [number];
      expect([status, asked]).toEqual([0, [3000, 4000]]);
      expect(readFileSync(output, "utf8").trim().split("\n")).toHaveLength(5001);
      expect(readdirSync(kept)).toEqual([]);
    } finally {
      await proxy.close();
    }
  });
});

describe("pages that are requested ahead", () => {
  beforeEach(() => {
    koop.features = points.slice(0, 5000);
  });

  it.each([[{}, 2] as const, [{ parallel: "1" }, 1] as const, [{ parallel: "4" }, 4] as const])(
    "arrive in order, once each, with %j",
    async (readerOptions, expected) => {
      let [now, most] = [0, 0];
      // No page is sent before as many are requested as may be at once.
      let open: () => void = () => undefined;
      const isOpen = new Promise<void>((resolve) => {
        open = resolve;
      });
      const { found, proxy } = await throughProxy(
        async (asked, answer) => {
          if (!isPage(asked)) return answer;
          most = Math.max(most, ++now);
          if (now === expected) open();
          await isOpen;
          now--;
          return answer;
        },
        { readerOptions: { ...readerOptions, pageSize: "500" } },
      );
      expect(ids(found)).toEqual(from1To(5000));
      expect(most).toBe(expected);
      const offsets = proxy.requests.filter(isPage).map(({ parameters }) => Number(parameters.get("resultOffset")));
      expect(offsets.sort((a, b) => a - b)).toEqual(from1To(10).map((n) => (n - 1) * 500));
    },
    60_000,
  );

  it("are discarded where the service turns out to send fewer features at once", async () => {
    const { found } = await throughProxy(
      (asked, answer) =>
        isPage(asked) ? { ...answer, features: featuresIn(answer).slice(0, 300), exceededTransferLimit: true } : answer,
      { readerOptions: { parallel: "4" } },
    );
    expect(ids(found)).toEqual(from1To(5000));
  });
});
