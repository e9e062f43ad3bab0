/** Hand-built services: layers, reference systems, filters, credentials. */
import { existsSync, readFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { oapif, wfs } from "../../../plugins/ogc/index.js";
import { AddressSource } from "../../../src/io/input/source.js";
import { withNetworkSettings } from "../../../src/network-settings.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { convertFile } from "../../support/host.js";
import { RecordingContext, TemporaryFolder } from "../../support/read-layers.js";
import { AnsweringServer, type ArcgisRequest, type GivenAnswer } from "../../support/servers/answering-server.js";
import {
  answerFeatures,
  answerWfs,
  exception,
  type FeaturesSettings,
  gaussKrueger,
  parameter,
  stops,
  type WfsSettings,
} from "./hand-built-services.js";

const scratch = new TemporaryFolder();
const servers: AnsweringServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  for (const name of Object.keys(process.env)) if (name.startsWith("GEOFERRY_OGC_")) delete process.env[name];
});
afterAll(() => scratch.remove());

const all = stops(40);

async function serve(answer: (asked: ArcgisRequest, origin: string) => GivenAnswer | object) {
  const server: AnsweringServer = await AnsweringServer.start((asked) => answer(asked, server.origin));
  servers.push(server);
  return server;
}
const serveWfs = (settings: WfsSettings = {}) => serve((asked) => answerWfs(asked, all, settings));
const serveFeatures = (settings: FeaturesSettings = {}) =>
  serve((asked, origin) => answerFeatures(asked, origin, all, settings));

interface Found {
  readonly properties: { readonly id: number; readonly name: string };
  readonly geometry: { readonly coordinates: number[] };
}

let outputs = 0;
async function convertService(address: string, request: Partial<ConvertRequest> = {}): Promise<Found[]> {
  const output = scratch.path(`output-${outputs++}.geojson`);
  const options = { reproject: false, writerOptions: { crs: "yes", precision: "3" }, ...request };
  await withNetworkSettings({ retries: 0 }, () => convertFile(address, output, options));
  return (JSON.parse(readFileSync(output, "utf8")) as { features: Found[] }).features;
}

const layersOf = async (format: typeof wfs | typeof oapif, address: string) => {
  const context = new RecordingContext();
  const reader = await format.reader!.load();
  const options = parseOptions(format.id, format.reader!.options, {}) as never;
  return reader.open(new AddressSource(address), options, context);
};

describe("layers", () => {
  it("of a WFS are its feature types with their declared fields", async () => {
    const { origin } = await serveWfs();
    const { layers } = await layersOf(wfs, `wfs:${origin}/wfs`);
    expect(
      layers.map(({ name, aliases, crs, fields, geometryTypes, featureCount }) => ({
        name,
        aliases,
        crs: crs?.id,
        fields,
        geometryTypes,
        featureCount,
      })),
    ).toEqual([
      {
        ...{ name: "stop", aliases: ["app:stop"], crs: "EPSG:31467", geometryTypes: ["Point"], featureCount: 40 },
        fields: [
          { name: "id", type: "int32" },
          { name: "name", type: "text" },
        ],
      },
    ]);
  });

  it("of a WFS keep dates with a zone as text", async () => {
    const [first] = await convertService(`wfs:${(await serveWfs({ hasDate: true })).origin}/wfs`);
    expect(first!.properties).toEqual({ id: 1, name: "stop 1", opened: "2024-01-02Z" });
  });

  it.each(["", "/collections", "/collections/stops", "/collections/stops/items"])(
    "of an OGC API are its collections of features: %s",
    async (path) => {
      const { origin } = await serveFeatures();
      const { layers, omitted = [] } = await layersOf(oapif, `oapif:${origin}/api${path}`);
      expect(layers.map(({ name, crs, featureCount }) => [name, crs?.id, featureCount])).toEqual([
        ["stops", "EPSG:31467", 40],
      ]);
      expect(omitted.map(({ code, example }) => [code, example])).toEqual(
        path.includes("stops") ? [] : [["layer-left-out", expect.stringContaining("books")]],
      );
    },
  );
});

it("an OGC API that answers with media types of its own, and errors in lists, is read", async () => {
  const { origin } = await serve((asked, own) => {
    const isItems = asked.path.endsWith("/items");
    // As QGIS Server does.
    if (!isItems && asked.headers.accept?.includes("geo+json"))
      return {
        status: 400,
        body: JSON.stringify([{ code: "Bad request error", description: "Unsupported Content-Type" }]),
      };
    return answerFeatures(asked, own, all);
  });
  expect(await convertService(`oapif:${origin}/api`)).toHaveLength(40);
  await expect(convertService(`oapif:${origin}/other`)).rejects.toMatchObject({
    code: "feature-service-refused",
    message: expect.stringContaining("no such resource"),
  });
});

describe("addresses", () => {
  it("are those of services, not of answers", () => {
    const ofWfs = (text: string) => wfs.addresses!.match(text);
    expect(ofWfs("https://h/x?SERVICE=wfs&REQUEST=GetCapabilities")).toBe(true);
    expect(ofWfs("https://h/x?map=1&service=WFS")).toBe(true);
    expect(ofWfs("wfs:https://h/x")).toBe(true);
    expect(ofWfs("https://h/x?service=WFS&request=GetFeature&typenames=a")).toBe(false);
    expect(ofWfs("https://h/x?service=WMS")).toBe(false);
    const ofFeatures = (text: string) => oapif.addresses!.match(text);
    expect(ofFeatures("https://h/collections")).toBe(true);
    expect(ofFeatures("https://h/api/collections/a/items")).toBe(true);
    expect(ofFeatures("https://h/api/collections/a/items/7")).toBe(false);
    expect(ofFeatures("oapif:https://h/")).toBe(true);
    expect(ofFeatures("https://h/")).toBe(false);
  });

  it("with a secret are refused without repeating it", () => {
    for (const address of ["wfs:https://u:s3cr3t@h/x", "https://h/x?service=WFS&apikey=s3cr3t"]) {
      expect(() => wfs.addresses!.fileStem(address)).toThrow(/GEOFERRY_OGC_/);
      expect(() => wfs.addresses!.fileStem(address)).not.toThrow(/s3cr3t/);
      expect(wfs.addresses!.redact(address)).not.toContain("s3cr3t");
    }
  });
});

describe("axes", () => {
  it("are in the order that the reference system declares: northing first in EPSG:31467", async () => {
    const services = [
      `wfs:${(await serveWfs()).origin}/wfs`,
      `${(await serveFeatures()).origin}/api/collections/stops`,
    ];
    for (const address of services) {
      const features = await convertService(address);
      expect(features).toHaveLength(40);
      expect(features[1]!.geometry.coordinates).toEqual([3_500_001, 5_400_002]);
    }
  });

  it("in another order are noticed, and can be exchanged", async () => {
    const ofWfs = `wfs:${(await serveWfs({ isSwapped: true })).origin}/wfs`;
    await expect(convertService(ofWfs)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("--in axisOrder=xy"),
    });
    const [, second] = await convertService(ofWfs, { readerOptions: { axisOrder: "xy" } });
    expect(second!.geometry.coordinates).toEqual([3_500_001, 5_400_002]);
    const ofFeatures = `${(await serveFeatures({ isSwapped: true })).origin}/api/collections/stops`;
    await expect(convertService(ofFeatures)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("--swap-xy"),
    });
    const [, other] = await convertService(ofFeatures, { swapXy: true });
    expect(other!.geometry.coordinates).toEqual([3_500_001, 5_400_002]);
  });

  it("are longitude and latitude where an OGC API has no reference systems", async () => {
    const { origin } = await serveFeatures({ hasCrs: false });
    const features = await convertService(`${origin}/api/collections/stops`);
    expect(features[1]!.geometry.coordinates).toEqual([3.5, 5.4]);
  });
});

describe("boxes", () => {
  const bbox = [3_500_009.5, 5_400_000, 3_500_020.5, 5_400_100] as const;
  const ids = Array.from({ length: 11 }, (_, n) => n + 11);
  const request = { bbox, bboxCrs: "EPSG:31467" } as unknown as Partial<ConvertRequest>;

  it("are sent to a WFS that selects by them correctly", async () => {
    const server = await serveWfs();
    expect((await convertService(`wfs:${server.origin}/wfs`, request)).map((each) => each.properties.id)).toEqual(ids);
    const pages = server.requests.filter((asked) => parameter(asked, "startindex") !== undefined);
    expect(pages.length).toBeGreaterThan(0);
    for (const page of pages)
      expect(parameter(page, "bbox")).toMatch(/^5399999\.\d+,3500009\.\d+,.*,urn:ogc:def:crs:EPSG::31467$/);
  });

  it("are not sent to one that takes the axes in another order", async () => {
    const server = await serveWfs({ hasSwappedBox: true });
    expect((await convertService(`wfs:${server.origin}/wfs`, request)).map((each) => each.properties.id)).toEqual(ids);
    const pages = server.requests.filter((asked) => parameter(asked, "startindex") !== undefined);
    expect(pages.map((page) => parameter(page, "bbox"))).toEqual(pages.map(() => undefined));
  });

  it("are sent to an OGC API in its reference system", async () => {
    const server = await serveFeatures();
    const address = `${server.origin}/api/collections/stops`;
    expect((await convertService(address, request)).map((each) => each.properties.id)).toEqual(ids);
    const pages = server.requests.filter(({ parameters }) => parameters.get("limit") === "1000");
    expect(pages[0]!.parameters.get("bbox-crs")).toBe(gaussKrueger);
    expect(pages[0]!.parameters.get("bbox")).toMatch(/^5399999\.\d+,3500009\.\d+,/);
  });
});

describe("conditions", () => {
  it("are sent to an OGC API with CQL2 text, and applied by us otherwise", async () => {
    for (const hasFilter of [true, false]) {
      const server = await serveFeatures({ hasFilter });
      const address = `${server.origin}/api/collections/stops`;
      const features = await convertService(address, { where: "id >= 35" } as Partial<ConvertRequest>);
      expect(features.map(({ properties }) => properties.id)).toEqual([35, 36, 37, 38, 39, 40]);
      const pages = server.requests.filter(({ parameters }) => parameters.get("limit") === "1000");
      expect(pages[0]!.parameters.get("filter")).toBe(hasFilter ? "id >= 35" : null);
    }
  });

  it("are not sent to an OGC API that compares numbers as texts", async () => {
    const server = await serveFeatures({ hasFilter: true, comparesTexts: true });
    const where = { where: "id >= 5" } as Partial<ConvertRequest>;
    const features = await convertService(`${server.origin}/api/collections/stops`, where);
    expect(features.map(({ properties }) => properties.id)).toEqual(Array.from({ length: 36 }, (_, n) => n + 5));
  });
});

describe("paging", () => {
  it("follows what a WFS sends: all at once, fewer than requested, or without a number", async () => {
    for (const settings of [
      { hasPaging: false },
      { limit: 7 },
      { hasPaging: false, limit: 7 },
      { matched: "unknown" },
    ]) {
      const { origin } = await serveWfs(settings);
      const features = await convertService(`wfs:${origin}/wfs`, { readerOptions: { pageSize: "10" } });
      expect(
        features.map(({ properties }) => properties.id),
        JSON.stringify(settings),
      ).toEqual(all.map(({ id }) => id));
    }
  });

  it("reads pages twice, or once on request", async () => {
    const pagesOf = async (readerOptions: Record<string, string>) => {
      const server = await serveFeatures();
      await convertService(`${server.origin}/api/collections/stops`, { readerOptions });
      return server.requests.filter(({ parameters }) => parameters.get("limit") === "15").length;
    };
    expect(await pagesOf({ pageSize: "15" })).toBe(6);
    expect(await pagesOf({ pageSize: "15", singleRead: "yes" })).toBe(3);
  });

  it("needs no number of features from an OGC API", async () => {
    const { origin } = await serveFeatures({ isMatchedKnown: false, limit: 7 });
    expect(await convertService(`${origin}/api/collections/stops`)).toHaveLength(40);
  });
});

describe("credentials", () => {
  const guarded = (asked: ArcgisRequest, origin: string) => {
    const isAllowed =
      asked.headers.authorization === `Basic ${Buffer.from("ann:pw").toString("base64")}` ||
      asked.headers.authorization === "Bearer t0ken" ||
      asked.parameters.get("apikey") === "k3y";
    if (!isAllowed) return exception("NoAccess", `not with ${asked.headers.authorization ?? "nothing"}`, 401);
    return asked.path.startsWith("/api") ? answerFeatures(asked, origin, all) : answerWfs(asked, all);
  };
  const cases: Record<string, string>[] = [
    { GEOFERRY_OGC_USER: "ann", GEOFERRY_OGC_PASSWORD: "pw" },
    { GEOFERRY_OGC_TOKEN: "t0ken" },
    { GEOFERRY_OGC_PARAMETER: "apikey=k3y" },
  ];
  it.each(cases)("come from the environment: %o", async (environment) => {
    const { origin } = await serve(guarded);
    Object.assign(process.env, environment);
    expect(await convertService(`wfs:${origin}/wfs`)).toHaveLength(40);
    expect(await convertService(`${origin}/api/collections/stops`)).toHaveLength(40);
  });

  it("that are missing or wrong end with the reason and advice, without the secret", async () => {
    const { origin } = await serve(guarded);
    await expect(convertService(`wfs:${origin}/wfs`)).rejects.toMatchObject({
      code: "feature-service-forbidden",
      message: expect.stringContaining("set GEOFERRY_OGC_USER"),
    });
    process.env.GEOFERRY_OGC_TOKEN = "wr0ng";
    const failure = await convertService(`wfs:${origin}/wfs`).catch((error: Error) => error);
    expect(failure).toMatchObject({ code: "feature-service-forbidden" });
    expect((failure as Error).message).not.toContain("wr0ng");
    expect(existsSync(scratch.path(`output-${outputs - 1}.geojson`))).toBe(false);
  });

  it("are not sent to another server or unencrypted", async () => {
    process.env.GEOFERRY_OGC_TOKEN = "t0ken";
    const other = await serve((asked, origin) => answerFeatures(asked, origin, all));
    const { origin } = await serve((asked) => answerFeatures(asked, other.origin, all));
    expect(await convertService(`${origin}/api/collections/stops`)).toHaveLength(40);
    expect(other.requests.length).toBeGreaterThan(0);
    expect(other.requests.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    await expect(convertService("wfs:http://example.org/wfs")).rejects.toMatchObject({ code: "usage" });
  });
});
