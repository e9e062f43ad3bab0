/** GeoJSON of a WFS: used where it has what GML has, and only there. */
import { existsSync, readFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { wfs } from "../../../plugins/ogc/index.js";
import { GeoferryError } from "../../../src/errors.js";
import { AddressSource } from "../../../src/io/input/source.js";
import { withNetworkSettings } from "../../../src/network-settings.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { convertFile } from "../../support/host.js";
import { createRandom } from "../../support/random.js";
import { RecordingContext, readFeatures, TemporaryFolder } from "../../support/read-layers.js";
import { AnsweringServer, type ArcgisRequest, type GivenAnswer } from "../../support/servers/answering-server.js";
import { answerWfs, exception, parameter, type Stop, stops } from "./hand-built-services.js";

const scratch = new TemporaryFolder();
const servers: AnsweringServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
afterAll(() => scratch.remove());

const count = 250;
const all = stops(count);
type JsonFeature = { id?: string; geometry: { coordinates: number[] }; properties: Record<string, unknown> };
type Collection = { crs?: object; features: JsonFeature[]; numberReturned?: number };

/** As GeoServer answers: easting first, with the reference system as a member. */
const toFeature = ({ id, name, x, y }: Stop) => ({
  ...{ type: "Feature", id: `stop.${id}`, geometry_name: "geom" },
  ...{ geometry: { type: "Point", coordinates: [x, y] }, properties: { id, name } },
});
const crs = { type: "name", properties: { name: "urn:ogc:def:crs:EPSG::31467" } };
const formats = (names: readonly string[]) =>
  `<ows:Operation name="GetFeature"><ows:Parameter name="outputFormat"><ows:AllowedValues>${names
    .map((name) => `<ows:Value>${name}</ows:Value>`)
    .join("")}</ows:AllowedValues></ows:Parameter></ows:Operation>`;

type Change = (page: Collection, asked: ArcgisRequest) => Collection | GivenAnswer;

const isJson = (asked: ArcgisRequest) => parameter(asked, "outputformat") === "application/json";

async function start(
  change: Change = (page) => page,
  names = ["application/gml+xml; version=3.2", "text/javascript", "application/json"],
): Promise<AnsweringServer> {
  const server = await AnsweringServer.start((asked) => {
    const answer = answerWfs(asked, all);
    if (parameter(asked, "request") === "GetCapabilities")
      return { ...answer, body: String(answer.body).replace("<ows:Constraint", `${formats(names)}<ows:Constraint`) };
    if (!isJson(asked)) return answer;
    const from = Number(parameter(asked, "startindex") ?? 0);
    const features = all.slice(from, from + Number(parameter(asked, "count"))).map(toFeature);
    const page = { type: "FeatureCollection", crs, numberMatched: count, numberReturned: features.length, features };
    return change(page, asked);
  });
  servers.push(server);
  return server;
}

const options = parseOptions("wfs", wfs.reader!.options, { format: "json", pageSize: "100" }) as never;

async function read(server: AnsweringServer, readerOptions = options) {
  const context = new RecordingContext();
  const reader = await wfs.reader!.load();
  const dataset = await reader.open(new AddressSource(`wfs:${server.origin}/wfs`), readerOptions, context);
  const features = await readFeatures(dataset);
  return { features, notices: context.notices, losses: context.losses, fields: dataset.layers[0]!.fields };
}
const jsonPages = ({ requests }: AnsweringServer) =>
  requests.filter((asked) => isJson(asked)).map((asked) => parameter(asked, "startindex"));

describe("GeoJSON with the content of GML", () => {
  it("is read with the declared types, and gives the same features", async () => {
    const server = await start();
    const found = await read(server);
    // Two pages and a rest, read twice, after ten features to compare.
    expect(jsonPages(server)).toEqual([undefined, "0", "100", "200", "0", "100", "200"]);
    const gml = await read(server, parseOptions("wfs", wfs.reader!.options, {}) as never);
    expect(found.features).toEqual(gml.features);
    expect(found.features[0]).toEqual({
      ...{ type: "Feature", id: "stop.1", properties: { id: 1, name: "stop 1" } },
      geometry: { type: "Point", coordinates: [3_500_000, 5_400_000] },
    });
    expect(found.fields!.map(({ type }) => type)).toEqual(["int32", "text"]);
    expect([found.notices, found.losses]).toEqual([[], []]);
  });

  it("is read in the order of axes that the service has", async () => {
    const server = await start((page) => {
      for (const { geometry } of page.features) geometry.coordinates.reverse();
      return page;
    });
    const { features, notices } = await read(server);
    expect(features.at(-1)!.geometry).toEqual({ type: "Point", coordinates: [3_500_249, 5_400_498] });
    expect(notices).toEqual([]);
  });
});

describe("GML is read instead, and that is reported,", () => {
  const changes: [name: string, change: Change, reason: string][] = [
    ["coordinates are rounded", edit((each) => (each.geometry.coordinates[0]! += 0.0001)), "coordinates"],
    ["coordinates are in another system", edit((each) => (each.geometry.coordinates = [9, 48])), "coordinates"],
    ["ids are missing", edit((each) => delete each.id), "ids"],
    ["a value differs", edit((each) => (each.properties.name = "stop")), "values"],
    ["a value is missing", edit((each) => delete each.properties.id), "values"],
    ["features are missing", (page) => ({ ...page, features: page.features.slice(1) }), "number"],
    ["the service refuses it", () => exception("InvalidParameterValue", "no such format"), "no such format"],
    ["the response is no collection", () => ({ body: '{"type":"Topology"}' }), "no list"],
  ];
  it.each(changes)("if %s", async (_, change, reason) => {
    const server = await start(change);
    const { features, notices } = await withNetworkSettings({ retries: 0 }, () => read(server));
    expect(features.map(({ properties }) => properties.id)).toEqual(all.map(({ id }) => id));
    expect(notices.map(({ code }) => code)).toEqual(["json-not-used"]);
    expect(notices[0]!.example).toContain(reason);
    expect(jsonPages(server)).not.toContain("0");
  });

  it.each([[["text/xml; subtype=gml/3.1.1"]], [["text/javascript", "application/json;type=topojson"]]])(
    "if the service offers %j",
    async (names) => {
      const { notices } = await read(await start(undefined, names));
      expect(notices[0]!.example).toContain("does not offer it");
    },
  );
});

function edit(change: (feature: JsonFeature) => unknown): Change {
  return (page) => {
    page.features.slice(0, 3).forEach(change);
    return page;
  };
}

let outputs = 0;
const convert = async (server: AnsweringServer): Promise<number> => {
  const output = scratch.path(`output-${outputs++}.geojson`);
  const readerOptions = { format: "json", pageSize: "100" };
  const request = { readerOptions, reproject: false, writerOptions: { crs: "yes" } };
  await withNetworkSettings({ retries: 1 }, () => convertFile(`wfs:${server.origin}/wfs`, output, request));
  return (JSON.parse(readFileSync(output, "utf8")) as Collection).features.length;
};
const expectRefused = async (server: AnsweringServer) => {
  await expect(convert(server)).rejects.toMatchObject({ code: "feature-service-incomplete", kind: "unavailable" });
  expect(existsSync(scratch.path(`output-${outputs - 1}.geojson`))).toBe(false);
};

describe("pages of GeoJSON", () => {
  const later = (change: (page: Collection) => Collection): Change => {
    return (page, asked) => (parameter(asked, "startindex") === "100" ? change(page) : page);
  };
  it.each<[string, (page: Collection) => Collection]>([
    ["lack features", (page) => ({ ...page, features: page.features.slice(1) })],
    ["lack features and say so", (page) => ({ features: page.features.slice(1), crs })],
    ["are in another system", (page) => ({ ...page, crs: { type: "name", properties: { name: "EPSG:4326" } } })],
    ["have no system", ({ crs: _, ...page }) => page],
    [
      "have members that are not features",
      (page) => ({ ...page, features: [...page.features.slice(1), null as never] }),
    ],
  ])("that %s are refused without an output", async (_, change) => {
    await expectRefused(await start(later(change)));
  });

  it("that are damaged are complete or refused, never a part", async () => {
    const random = createRandom(41);
    let [asked, target] = [0, 0];
    const server = await start((page, request) => {
      if (parameter(request, "startindex") === undefined || asked++ !== target) return page;
      const text = JSON.stringify(page);
      const at = Math.floor(random() * text.length);
      const isCut = random() < 0.3;
      return { body: isCut ? text.slice(0, at) : text.slice(0, at) + text.slice(at + 1 + Math.floor(random() * 30)) };
    });
    let complete = 0;
    for (let n = 0; n < 60; n++) {
      [asked, target] = [0, n % 6];
      try {
        expect(await convert(server), `damage ${n}`).toBe(count);
        complete++;
      } catch (error) {
        if (!(error instanceof GeoferryError) || error.code === "internal")
          throw new Error(`damage ${n}`, { cause: error });
        expect(existsSync(scratch.path(`output-${outputs - 1}.geojson`))).toBe(false);
      }
    }
    expect(complete).toBeGreaterThan(20);
  });
});
