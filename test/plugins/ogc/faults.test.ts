/** Services with faults: all features arrive, in order, once each; or the run ends with a reason and no output. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { withNetworkSettings } from "../../../src/network-settings.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { convertFile } from "../../support/host.js";
import { createRandom } from "../../support/random.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { AnsweringServer, type ArcgisRequest, type GivenAnswer } from "../../support/servers/answering-server.js";
import { answerFeatures, answerWfs, exception, parameter, type Stop, stops } from "./hand-built-services.js";

const scratch = new TemporaryFolder();
const servers: AnsweringServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
afterAll(() => scratch.remove());

const count = 2500;
let features: readonly Stop[];
beforeEach(() => {
  features = stops(count);
});

type Answer = GivenAnswer | object;
/** Changes an answer; null closes the connection. */
type Change = (asked: ArcgisRequest, answer: GivenAnswer) => Answer | null | Promise<Answer | null>;

interface Service {
  readonly name: string;
  readonly isPage: (asked: ArcgisRequest) => boolean;
  readonly startOf: (asked: ArcgisRequest) => number;
  start(change: Change): Promise<string>;
  /** An answer without some of its features, by their index, that announces the rest. */
  filterPage(answer: GivenAnswer, keep: (index: number) => boolean, announces?: boolean): GivenAnswer;
}

const wfs: Service = {
  name: "a WFS",
  isPage: (asked) => parameter(asked, "request") === "GetFeature" && parameter(asked, "startindex") !== undefined,
  startOf: (asked) => Number(parameter(asked, "startindex")),
  async start(change) {
    const server = await AnsweringServer.start((asked) => change(asked, answerWfs(asked, features)));
    servers.push(server);
    return `wfs:${server.origin}/wfs`;
  },
  filterPage({ body, ...rest }, keep, announces = true) {
    let [index, kept] = [0, 0];
    const less = String(body).replace(/<wfs:member>.*?<\/wfs:member>/gs, (text) => {
      if (!keep(index++)) return "";
      kept++;
      return text;
    });
    return { ...rest, body: announces ? less.replace(/numberReturned="\d+"/, `numberReturned="${kept}"`) : less };
  },
};

const oapif: Service = {
  name: "an OGC API",
  isPage: ({ path, parameters }) => path.endsWith("/items") && parameters.get("limit") !== "1",
  startOf: ({ parameters }) => Number(parameters.get("offset") ?? 0),
  async start(change) {
    const server: AnsweringServer = await AnsweringServer.start((asked) => {
      const answer = answerFeatures(asked, server.origin, features);
      const given = "body" in answer ? (answer as GivenAnswer) : { body: JSON.stringify(answer) };
      return change(asked, given);
    });
    servers.push(server);
    return `${server.origin}/api/collections/stops`;
  },
  filterPage({ body, ...rest }, keep, announces = true) {
    const json = JSON.parse(String(body)) as { features: unknown[]; numberReturned: number };
    json.features = json.features.filter((_, index) => keep(index));
    if (announces) json.numberReturned = json.features.length;
    return { ...rest, body: JSON.stringify(json) };
  },
};

let outputs = 0;
async function convertService(address: string, request: Partial<ConvertRequest> = {}, retries = 2): Promise<number[]> {
  const output = scratch.path(`output-${outputs++}.geojson`);
  await withNetworkSettings({ retries, timeout: 3000 }, () => convertFile(address, output, request));
  const { features: found } = JSON.parse(readFileSync(output, "utf8")) as { features: { properties: Stop }[] };
  return found.map(({ properties }) => properties.id);
}
const expectNoOutput = () => {
  expect(existsSync(scratch.path(`output-${outputs - 1}.geojson`))).toBe(false);
  expect(readdirSync(scratch.folder).filter((name) => !/^output-\d+\.geojson$/.test(name))).toEqual([]);
};
const from1To = (last: number): number[] => Array.from({ length: last }, (_, n) => n + 1);
const without = (id: number) => features.filter((stop) => stop.id !== id);

describe.each([wfs, oapif])("$name", (service) => {
  const { isPage, startOf } = service;
  const cut = ({ body, ...rest }: GivenAnswer): GivenAnswer => ({ ...rest, body: String(body).slice(0, 5000) });

  it("is complete where connections break, answers are late, cut or pages for people", async () => {
    let n = 0;
    const address = await service.start(async (asked, answer) => {
      if (!isPage(asked)) return answer;
      n++;
      if (n === 2) return null;
      if (n === 3) await sleep(300);
      if (n === 5) return cut(answer);
      if (n === 7) return { status: 503, headers: { "retry-after": "0" }, body: "busy" };
      return answer;
    });
    expect(await convertService(address)).toEqual(from1To(count));
    expect(n).toBeGreaterThan(7);
  });

  it("is complete where an error comes once with status 200", async () => {
    let n = 0;
    const address = await service.start((asked, answer) =>
      isPage(asked) && ++n === 2
        ? service === wfs
          ? exception("NoApplicableCode", "Database is busy")
          : { code: "ServerError", description: "Database is busy" }
        : answer,
    );
    expect(await convertService(address)).toEqual(from1To(count));
  });

  it("is refused where that error stays, with its text", async () => {
    const address = await service.start((asked, answer) =>
      isPage(asked) && startOf(asked) === 1000
        ? service === wfs
          ? exception("InvalidParameterValue", "Column is gone")
          : { code: "InvalidParameterValue", description: "Column is gone" }
        : answer,
    );
    await expect(convertService(address)).rejects.toMatchObject({
      code: "feature-service-refused",
      message: expect.stringContaining("Column is gone"),
    });
    expectNoOutput();
  });

  const once: [name: string, change: (answer: GivenAnswer, earlier: GivenAnswer) => GivenAnswer][] = [
    ["lacks features", (answer) => service.filterPage(answer, (index) => index % 7 !== 0)],
    ["lacks features that it announces", (answer) => service.filterPage(answer, (index) => index > 0, false)],
    ["is empty", (answer) => service.filterPage(answer, () => false)],
    ["comes twice", (_, earlier) => earlier],
  ];
  it.each(once)("is complete where a page %s in the first reading", async (_, change) => {
    let isDone = false;
    let earlier: GivenAnswer | null = null;
    const address = await service.start((asked, answer) => {
      if (!isPage(asked)) return answer;
      if (startOf(asked) === 0) earlier = answer;
      if (startOf(asked) === 0 || isDone) return answer;
      isDone = true;
      return change(answer, earlier!);
    });
    expect(await convertService(address)).toEqual(from1To(count));
    expect(isDone).toBe(true);
  });
  it.each(once)("is refused where a page always %s", async (_, change) => {
    let earlier: GivenAnswer | null = null;
    const address = await service.start((asked, answer) => {
      if (!isPage(asked)) return answer;
      if (startOf(asked) === 0) earlier = answer;
      return startOf(asked) === 0 ? answer : change(answer, earlier!);
    });
    await expect(convertService(address)).rejects.toMatchObject({
      code: "feature-service-incomplete",
      kind: "unavailable",
    });
    expectNoOutput();
  });

  it("is read again where a feature is added, deleted or edited meanwhile", async () => {
    const extra: Stop = { id: count + 1, name: "new", x: 3_500_001, y: 5_400_001 };
    const edits: [edit: () => readonly Stop[], ids: number[]][] = [
      [() => [...features, extra], from1To(count + 1)],
      [() => without(3), from1To(count).filter((id) => id !== 3)],
      // The number stays, and the feature 1001 moves to a page that was read already.
      [() => [...without(3), extra], from1To(count + 1).filter((id) => id !== 3)],
      [() => features.map((stop) => (stop.id === 7 ? { ...stop, name: "other" } : stop)), from1To(count)],
    ];
    for (const [edit, ids] of edits) {
      features = stops(count);
      let isDone = false;
      const address = await service.start((asked, answer) => {
        if (isPage(asked) && startOf(asked) === 1000 && !isDone) {
          isDone = true;
          features = edit();
          return service === wfs
            ? answerWfs(asked, features)
            : answerFeatures(asked, new URL(address).origin, features);
        }
        return answer;
      });
      expect(await convertService(address)).toEqual(ids);
    }
  });

  it("is refused where it changes during every attempt", async () => {
    let n = 0;
    const address = await service.start((asked, answer) => {
      if (isPage(asked) && startOf(asked) === 1000) features = features.slice(1);
      n++;
      return answer;
    });
    await expect(convertService(address)).rejects.toMatchObject({
      code: "feature-service-changed",
      kind: "unavailable",
    });
    expectNoOutput();
    expect(n).toBeGreaterThan(10);
  });
});

it("a link to the next page that leads back is refused", async () => {
  const address = await oapif.start((asked, answer) => {
    if (!oapif.isPage(asked)) return answer;
    const self = `${asked.path}?${asked.parameters}`;
    return { ...answer, body: String(answer.body).replace(/"href":"[^"]*offset[^"]*"/, `"href":"${self}"`) };
  });
  await expect(convertService(address)).rejects.toMatchObject({ code: "feature-service-incomplete" });
  expectNoOutput();
});

it("a link to the next page that is missing is noticed", async () => {
  const address = await oapif.start((asked, answer) => ({
    ...answer,
    body: oapif.isPage(asked) ? String(answer.body).replace('"rel":"next"', '"rel":"other"') : answer.body,
  }));
  await expect(convertService(address)).rejects.toMatchObject({ code: "feature-service-incomplete" });
  expectNoOutput();
});

it.each([wfs, oapif])(
  "100 damaged answers of $name: complete or refused, never a part",
  async (service) => {
    features = stops(40);
    const random = createRandom(service === wfs ? 31 : 37);
    const special = "<>&\"'/{}[],:0159-.eE \n\u0000\u00ff";
    let [target, asked] = [-1, 0];
    let damage = (text: string): string | null => text;
    const address = await service.start((_, answer) => {
      if (asked++ !== target) return answer;
      const body = damage(String(answer.body));
      return body === null ? null : { ...answer, body };
    });
    let complete = 0;
    for (let n = 0; n < 100; n++) {
      asked = 0;
      target = n % 8;
      damage = (text) => {
        const at = Math.floor(random() * text.length);
        if (n % 7 === 0) return text.slice(0, at);
        if (n % 7 === 1) return n % 2 === 0 ? null : "";
        if (n % 7 === 2) return text.slice(0, at) + text.slice(at + 1 + Math.floor(random() * 40));
        if (n % 7 === 3) return text.slice(0, at) + text.slice(Math.max(0, at - 60));
        if (n % 7 === 4)
          return text.replace(/\d+/g, (digits) => (random() < 0.05 ? String(Number(digits) + 1) : digits));
        if (n % 7 === 5) return text.replace(/(\w+)(":|>)/g, (name) => (random() < 0.1 ? `x${name}` : name));
        return text.slice(0, at) + special[Math.floor(random() * special.length)]! + text.slice(at + 1);
      };
      try {
        const ids = await convertService(address, { readerOptions: { pageSize: "15" } }, 0);
        expect(ids, `damage ${n}`).toEqual(from1To(40));
        complete++;
      } catch (error) {
        if (!(error instanceof GeoferryError) || error.code === "internal")
          throw new Error(`damage ${n}`, { cause: error });
        expectNoOutput();
      }
    }
    expect(complete).toBeGreaterThan(25);
  },
  60_000,
);
