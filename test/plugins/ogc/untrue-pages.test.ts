/** Pages that announce others at no address, have features of another type, or say what their readers change. */
import { existsSync, readFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ConvertReport } from "../../../src/pipeline/report.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { AnsweringServer, type GivenAnswer } from "../../support/servers/answering-server.js";
import { answerFeatures, answerWfs, parameter, stops } from "./hand-built-services.js";

const scratch = new TemporaryFolder();
const servers: AnsweringServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
afterAll(() => scratch.remove());

let outputs = 0;
const newOutput = (): string => scratch.path(`output-${outputs++}.geojson`);
const featuresIn = (path: string) =>
  (JSON.parse(readFileSync(path, "utf8")) as { features: { properties: Record<string, unknown> }[] }).features;
const codesOf = ({ losses, notices }: ConvertReport) => [...losses, ...notices].map(({ code }) => code);

const features = stops(2500);
const isItems = (path: string) => path.endsWith("/items");

describe("an OGC API that does not count its features", () => {
  /** @param change of the parsed page and its headers, if it announces another page */
  async function start(change: (page: { links: unknown }, headers: Record<string, string>) => void): Promise<string> {
    const server: AnsweringServer = await AnsweringServer.start((asked) => {
      const answer = answerFeatures(asked, server.origin, features, { isMatchedKnown: false }) as GivenAnswer;
      if (!isItems(asked.path)) return answer;
      const page = JSON.parse(String(answer.body)) as { links: unknown[] };
      const headers = { ...answer.headers };
      if (page.links.length > 0) change(page, headers);
      return { ...answer, headers, body: JSON.stringify(page) };
    });
    servers.push(server);
    return `${server.origin}/api/collections/stops`;
  }

  it.each([
    "file:///etc/hostname",
    "data:application/json,%7B%7D",
    "ftp://example.org/next",
    "http://[",
    "",
    42,
    undefined,
  ])("is refused where the link to the next page is %j", async (href) => {
    const output = newOutput();
    const address = await start((page) => {
      page.links = [{ rel: "next", href }];
    });
    await expect(convertFile(address, output)).rejects.toMatchObject({ code: "feature-service-incomplete" });
    expect(existsSync(output)).toBe(false);
  });

  it.each([
    ["another collection", (href: string) => href.replace("/stops/items", "/poles/items"), '"poles"'],
    ["another system", (href: string) => href.replace(/crs=[^&]*/, "crs=http://example.org/other"), "crs=http"],
    ["a box", (href: string) => `${href}&bbox=0,0,1,1`, "bbox=0,0,1,1"],
  ])("is refused where the link to the next page leads to %s", async (_, change, named) => {
    const address = await start((page) => {
      const [{ href }] = page.links as [{ href: string }];
      page.links = [{ rel: "next", href: change(href) }];
    });
    await expect(convertFile(address, newOutput())).rejects.toMatchObject({
      code: "feature-service-incomplete",
      message: expect.stringContaining(named),
    });
  });

  it("is complete where the link to the next page is in the header, and not in the page", async () => {
    const output = newOutput();
    const address = await start((page, headers) => {
      const [{ href }] = page.links as [{ href: string }];
      headers.link = `<${address}>; rel="self"; title="next", <${href}>; rel="alternate next"`;
      page.links = [];
    });
    const report = await convertFile(address, output);
    expect(featuresIn(output).map(({ properties }) => properties.id)).toEqual(features.map(({ id }) => id));
    expect(codesOf(report)).toContain("count-unknown");
  });

  it("is refused where that header has no address", async () => {
    const address = await start((page, headers) => {
      headers.link = '<file:///etc/hostname>; rel="next"';
      page.links = [];
    });
    await expect(convertFile(address, newOutput())).rejects.toMatchObject({ code: "feature-service-incomplete" });
  });
});

it("notes ids that occur twice with other content", async () => {
  const server: AnsweringServer = await AnsweringServer.start((asked) => {
    const answer = answerFeatures(asked, server.origin, features) as GivenAnswer;
    if (!isItems(asked.path) || asked.parameters.get("offset") !== "1000") return answer;
    return { ...answer, body: String(answer.body).replace('"id":1001,"properties"', '"id":1,"properties"') };
  });
  servers.push(server);
  const report = await convertFile(`${server.origin}/api/collections/stops`, newOutput());
  expect(report.notices).toContainEqual(expect.objectContaining({ code: "id-repeated", count: 1 }));
});

/** Lines from 0° to 20° east, each a degree long, at 10° north. */
const lines = Array.from({ length: 20 }, (_, n) => ({
  ...{ type: "Feature", id: n, properties: { n } },
  geometry: {
    type: "LineString",
    coordinates: [
      [n, 10],
      [n + 1, 10.5],
    ],
  },
}));

/** The lines whose part from `from` to `to`, as shares of the line, lies within the box. */
const within =
  (from: number, to: number) =>
  ([west, south, east, north]: readonly number[], n: number): boolean =>
    n + from >= west! && n + to <= east! && 10 + from / 2 >= south! && 10 + to / 2 <= north!;

it.each([
  ["lies within a box", within(0, 1)],
  ["has its middle in a box", within(0.5, 0.5)],
])("a box is not left to a service that selects what %s", async (_, selects) => {
  const server: AnsweringServer = await AnsweringServer.start((asked) => {
    if (!isItems(asked.path)) return answerFeatures(asked, server.origin, [], { hasCrs: false });
    const box = asked.parameters.get("bbox")?.split(",").map(Number);
    const found = lines.filter(({ properties: { n } }) => !box || selects(box, n));
    const page = found.slice(0, Number(asked.parameters.get("limit")));
    return { type: "FeatureCollection", numberMatched: found.length, features: page };
  });
  servers.push(server);
  const output = newOutput();
  await convertFile(`${server.origin}/api/collections/stops`, output, { bbox: [2.9, 0, 7.1, 20] });
  // The lines from 2° to 3° and from 7° to 8° reach into the box.
  expect(featuresIn(output).map(({ properties }) => properties.n)).toEqual([2, 3, 4, 5, 6, 7]);
});

it("is refused where a later page has the axes in another order", async () => {
  const all = Array.from({ length: 30 }, (_, n) => ({
    ...{ type: "Feature", id: n, properties: { n } },
    geometry: { type: "Point", coordinates: [10 + n / 100, 50] },
  }));
  const server: AnsweringServer = await AnsweringServer.start((asked) => {
    if (asked.path === "/api/collections/stops")
      return {
        ...{ id: "stops", extent: { spatial: { bbox: [[9, 49, 12, 52]] } } },
        links: [{ rel: "items", type: "application/geo+json", href: `${server.origin}/api/collections/stops/items` }],
      };
    if (!isItems(asked.path)) return answerFeatures(asked, server.origin, [], { hasCrs: false });
    const start = Number(asked.parameters.get("offset") ?? 0);
    const page = all.slice(start, start + Math.min(10, Number(asked.parameters.get("limit"))));
    const href = `${server.origin}${asked.path}?limit=10&offset=${start + 10}`;
    const swapped = page.map((each) => ({
      ...each,
      geometry: { ...each.geometry, coordinates: each.geometry.coordinates.toReversed() },
    }));
    return {
      ...{ type: "FeatureCollection", numberMatched: all.length, features: start === 0 ? page : swapped },
      links: start + 10 < all.length ? [{ rel: "next", href }] : [],
    };
  });
  servers.push(server);
  await expect(convertFile(`${server.origin}/api/collections/stops`, newOutput())).rejects.toMatchObject({
    code: "feature-service-incomplete",
    message: expect.stringContaining("swapping the axes"),
  });
});

describe("values of an OGC API", () => {
  async function convertProperties(properties: string | Buffer, type = "application/geo+json") {
    const server: AnsweringServer = await AnsweringServer.start((asked) => {
      if (!isItems(asked.path)) return answerFeatures(asked, server.origin, []);
      const body = Buffer.concat([
        Buffer.from(
          '{"type":"FeatureCollection","numberMatched":1,"features":[{"type":"Feature","geometry":null,"properties":',
        ),
        Buffer.from(properties),
        Buffer.from("}]}"),
      ]);
      return { headers: { "content-type": type }, body };
    });
    servers.push(server);
    const output = scratch.path(`values-${outputs++}.csv`);
    const report = await convertFile(`${server.origin}/api/collections/stops`, output);
    const [, row] = readFileSync(output, "utf8").split("\n");
    return { row, codes: codesOf(report), report };
  }

  it.each([
    ["a number beyond doubles", '{"a":1,"n":1e400}', "non-finite-value", "1,"],
    ["two members of one name", '{"a":1,"a":2}', "duplicate-member", "2"],
    ["bytes that are not UTF-8", Buffer.from('{"a":"r\xff"}', "latin1"), "invalid-utf8", "r\ufffd"],
  ])("%s is reported as a loss", async (_, properties, code, row) => {
    const found = await convertProperties(properties);
    expect(found.codes).toContain(code);
    expect(found.row).toBe(row);
  });

  it.each([
    ["an int64", '{"a":9007199254740993}', "9007199254740993", "application/json"],
    [
      "text like long integers and members",
      '{"a":"1: 9007199254740993, \\"a\\":"}',
      '"1: 9007199254740993, ""a"":"',
      undefined,
    ],
    [
      "text in the encoding that is declared",
      Buffer.from('{"a":"\xe4"}', "latin1"),
      "ä",
      "application/json; charset=iso-8859-1",
    ],
  ])("%s is kept", async (_, properties, row, type) => {
    const found = await convertProperties(properties, type);
    expect(found.row).toBe(row);
    expect(found.report.losses.map(({ code }) => code)).toEqual(["metadata-left-out"]);
  });
});

describe("a WFS", () => {
  async function convertChanged(change: (body: string, start: number) => string | Buffer) {
    const server = await AnsweringServer.start((asked) => {
      const answer = answerWfs(asked, features);
      const isPage = parameter(asked, "request") === "GetFeature" && parameter(asked, "resulttype") === undefined;
      const start = Number(parameter(asked, "startindex") ?? 0);
      return isPage ? { ...answer, body: change(String(answer.body), start) } : answer;
    });
    servers.push(server);
    const output = newOutput();
    return { output, report: await convertFile(`wfs:${server.origin}/wfs`, output) };
  }

  it("is refused where a later page has the axes in another order", async () => {
    const swap = (body: string) => body.replace(/<gml:pos>(\d+) (\d+)</g, "<gml:pos>$2 $1<");
    await expect(convertChanged((body, start) => (start === 1000 ? swap(body) : body))).rejects.toMatchObject({
      code: "feature-service-incomplete",
      message: expect.stringContaining("swapping the axes"),
    });
  });

  it("is refused where a page has features of another namespace", async () => {
    const other = "http://example.org/other";
    const mixed = convertChanged((body, start) =>
      start === 1000 ? body.replace('xmlns:app="http://example.org/app"', `xmlns:app="${other}"`) : body,
    );
    await expect(mixed).rejects.toMatchObject({
      code: "feature-service-incomplete",
      message: expect.stringContaining(`of the namespace "${other}"`),
    });
  });

  it("is refused where a page has features of another type", async () => {
    const mixed = convertChanged((body, start) => (start === 1000 ? body.replaceAll("app:stop", "app:pole") : body));
    await expect(mixed).rejects.toMatchObject({
      code: "feature-service-incomplete",
      message: expect.stringContaining('"pole"'),
    });
    expect(existsSync(scratch.path(`output-${outputs - 1}.geojson`))).toBe(false);
  });

  it("reports invalid bytes as a loss, and characters that XML does not allow as a notice", async () => {
    const { report } = await convertChanged((body) => Buffer.from(body.replace("stop 1<", "stop \xff<"), "latin1"));
    expect(report.losses).toMatchObject([{ code: "invalid-utf8", count: 1 }]);
    const other = await convertChanged((body) => body.replace("stop 1<", "stop &#1;<"));
    expect(codesOf(other.report)).toContain("control-character");
  });
});
