/** Services whose answers are built by hand from Esri's documentation: layers, tokens, attachments, errors. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { arcgis } from "../../../plugins/arcgis/index.js";
import { AddressSource } from "../../../src/io/input/source.js";
import type { Layer } from "../../../src/model/index.js";
import { withNetworkSettings } from "../../../src/network-settings.js";
import type { ConvertReport } from "../../../src/pipeline/report.js";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { parseOptions } from "../../../src/plugin/options.js";
import { convertFile } from "../../support/host.js";
import { RecordingContext, readFeatures, TemporaryFolder } from "../../support/read-layers.js";
import { AnsweringServer, type ArcgisRequest } from "../../support/servers/answering-server.js";
import { answerSafety, crimeLayer } from "./hand-built-service.js";

const scratch = new TemporaryFolder();
const servers: AnsweringServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  for (const name of Object.keys(process.env)) if (name.startsWith("GEOFERRY_ARCGIS_")) delete process.env[name];
});
afterAll(() => scratch.remove());

async function serve(answer: Parameters<typeof AnsweringServer.start>[0] = (asked) => answerSafety(asked)) {
  const server = await AnsweringServer.start(answer);
  servers.push(server);
  return { server, service: `${server.origin}/arcgis/rest/services/Safety/FeatureServer` };
}

let outputs = 0;
const convertLayer = async (address: string, request: Partial<ConvertRequest> = {}) => {
  const output = scratch.path(`output-${outputs++}.geojson`);
  const report: ConvertReport = await withNetworkSettings({ retries: 1 }, () => convertFile(address, output, request));
  const { features } = JSON.parse(readFileSync(output, "utf8")) as {
    features: { properties: Record<string, unknown>; geometry: { coordinates: number[] } | null }[];
  };
  return { report, features };
};

async function openService(address: string, options: Record<string, string> = {}) {
  const context = new RecordingContext();
  const reader = await arcgis.reader!.load();
  const dataset = await reader.open(
    new AddressSource(address),
    parseOptions("arcgis", arcgis.reader!.options, options),
    context,
  );
  return { dataset, context };
}
const describeLayer = ({ name, aliases, crs, featureCount, geometryTypes, fields }: Layer) => ({
  name,
  aliases,
  crs: crs?.id ?? null,
  featureCount,
  geometryTypes,
  fields: fields?.map((field) => `${field.name} ${field.type}`),
});

describe("a service", () => {
  it("has its layers and tables, and says what it leaves out", async () => {
    const { service } = await serve();
    const { dataset } = await openService(service);
    expect(dataset.layers.map(describeLayer)).toEqual([
      {
        name: "Incidents",
        aliases: ["3"],
        crs: "EPSG:3857",
        featureCount: 5,
        geometryTypes: ["Point"],
        fields: ["OBJECTID int64", "GlobalID text", "STATUS int32", "SEEN datetime"],
      },
      {
        name: "Visits",
        aliases: ["4"],
        crs: null,
        featureCount: 1,
        geometryTypes: [],
        fields: ["OID int64", "NOTE text"],
      },
    ]);
    expect(dataset.omitted).toMatchObject([
      { code: "layer-left-out", example: expect.stringContaining("Raster Layer") },
    ]);
  });

  it("gives features by pages ordered by the object id, with z, in its own reference system", async () => {
    const { server, service } = await serve();
    const { dataset } = await openService(`${service}/3`);
    const features = await readFeatures(dataset);
    expect(features.map(({ properties }) => properties.OBJECTID)).toEqual([1, 2, 3, 5, 7]);
    expect(features[0]!.geometry).toEqual({ type: "Point", coordinates: [1_000_001, 6_000_000, 0.5] });
    expect(features[0]!.properties.SEEN).toBe("2020-09-13T12:26:40.001Z");
    const pages = server.requests.filter(({ parameters }) => parameters.has("resultOffset"));
    expect(pages.map(({ parameters }) => Object.fromEntries(parameters))).toEqual(
      ["0", "2", "4"].map((resultOffset) => ({
        where: "1=1",
        orderByFields: "OBJECTID",
        resultOffset,
        resultRecordCount: resultOffset === "4" ? "1" : "2",
        outFields: "*",
        returnGeometry: "true",
        returnZ: "true",
        f: "json",
      })),
    );
  });

  it("is reprojected, and has names of codes on request", async () => {
    const { service } = await serve();
    const { features } = await convertLayer(`${service}/3`, { readerOptions: { domains: "names" } });
    // 1000001 m / 6378137 m · 180° / π
    expect(features[0]!.geometry!.coordinates[0]).toBeCloseTo((1_000_001 / 6_378_137) * (180 / Math.PI), 6);
    expect(features.map(({ properties }) => properties.STATUS)).toEqual([
      "closed",
      "open",
      "closed",
      "closed",
      "closed",
    ]);
  });

  it("describes its fields by aliases and codes", async () => {
    const { service } = await serve();
    const { dataset } = await openService(`${service}/3`);
    expect(dataset.layers[0]!.metadata).toMatchObject({
      description: "Incidents of a year",
      columns: [
        {
          column: "STATUS",
          title: "Status of the incident",
          constraint: { name: "status", rows: [{ type: "enum", value: "0", description: "open" }, { value: "1" }] },
        },
      ],
    });
  });

  it("with a table gives rows without geometry", async () => {
    const { service } = await serve();
    const { features } = await convertLayer(service, { layers: ["Visits"] });
    expect(features).toEqual([expect.objectContaining({ geometry: null, properties: { OID: 1, NOTE: "x" } })]);
  });

  it("that sends another reference system than it declares is refused", async () => {
    const { service } = await serve((asked) => {
      const answer = answerSafety(asked)!;
      return "features" in answer ? { ...answer, spatialReference: { wkid: 4326 } } : answer;
    });
    await expect(convertLayer(`${service}/3`)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(/declares EPSG:3857.*EPSG:4326.*--source-crs/),
    });
    expect((await convertLayer(`${service}/3`, { sourceCrs: "EPSG:3857" })).features).toHaveLength(5);
  });

  it("without features has none, with ids that are null", async () => {
    const { service } = await serve((asked) => {
      const answer = answerSafety(asked, crimeLayer, [])!;
      return "objectIds" in answer ? { ...answer, objectIds: null } : answer;
    });
    expect((await convertLayer(`${service}/3`)).features).toEqual([]);
  });

  it("without object ids is read if one answer has all features, else refused", async () => {
    const { objectIdField: _, fields, ...rest } = crimeLayer as { fields: object[] } & Record<string, unknown>;
    const layer = { ...rest, fields: fields.slice(1) };
    const answer = (count: number) => (asked: ArcgisRequest) => {
      if (asked.parameters.has("returnIdsOnly")) return { error: { code: 400, message: "no ids" } };
      if (asked.parameters.has("returnCountOnly")) return { count };
      const found = answerSafety(asked, layer, [1, 2])!;
      return "features" in found ? { ...found, exceededTransferLimit: count > 2 } : found;
    };
    const { service } = await serve(answer(2));
    expect((await convertLayer(`${service}/3`)).features).toHaveLength(2);
    const { service: larger } = await serve(answer(3));
    await expect(convertLayer(`${larger}/3`)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("no object ids"),
    });
  });
});

describe("errors of a service", () => {
  it.each([
    [
      { error: { code: 400, message: "Invalid URL", details: ["Invalid URL"] } },
      "feature-service-refused",
      "Invalid URL",
    ],
    [
      { error: { code: 403, message: "You do not have permissions" } },
      "feature-service-forbidden",
      "GEOFERRY_ARCGIS_TOKEN",
    ],
    [{ error: { code: 500, message: "Failed to execute" } }, "input-unavailable", "Failed to execute"],
    [{ status: 404, body: "not here" }, "feature-service-refused", "404"],
    [{ status: 503, body: "busy" }, "input-unavailable", "503"],
    [{ body: "<html>login</html>" }, "input-unavailable", "web page"],
    [{ body: "[]" }, "feature-service-refused", "not an object"],
    [{ services: [] }, "feature-service-refused", "lists no layers"],
  ])("such as %j are reported with advice", async (answer, code, text) => {
    const { service } = await serve(() => answer);
    await expect(convertLayer(service)).rejects.toMatchObject({ code, message: expect.stringContaining(text) });
  });

  it("do not break the line or color the terminal", async () => {
    const { service } = await serve(() => ({ error: { code: 400, message: "a\n\u001b[31mb" } }));
    await expect(convertLayer(service)).rejects.toMatchObject({ message: expect.not.stringContaining("\u001b") });
  });

  it("for a layer without features name its type", async () => {
    const { service } = await serve();
    await expect(convertLayer(`${service}/5`)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("Raster Layer"),
    });
    await expect(convertLayer(`${service}/9`)).rejects.toMatchObject({ code: "feature-service-refused" });
  });
});

describe("addresses", () => {
  const { match, fileStem, redact } = arcgis.addresses!;

  it("are recognized by their path or prefix", () => {
    const base = "https://gis.example.org/arcgis/rest/services/a/Roads";
    for (const text of [
      `${base}/FeatureServer`,
      `${base}/FeatureServer/3/`,
      `${base}/MapServer/0?f=json`,
      `arcgis:${base}`,
    ])
      expect([text, match(text)]).toEqual([text, true]);
    for (const text of [
      `${base}/FeatureServer/3/query?where=1`,
      `${base}/ImageServer`,
      "FeatureServer/3",
      "a/FeatureServer",
    ])
      expect([text, match(text)]).toEqual([text, false]);
    expect(fileStem(`${base}/FeatureServer/3`)).toBe("Roads_3");
    expect(fileStem(`${base}/MapServer`)).toBe("Roads");
  });

  it("with secrets are refused without repeating them, and those of other services with advice", () => {
    for (const text of ["https://user:geheim@h/a/FeatureServer/0", "https://h/a/FeatureServer/0?token=geheim"]) {
      expect(() => fileStem(text)).toThrowError(/^(?!.*geheim).*GEOFERRY_ARCGIS_/);
      expect(redact(text)).not.toContain("geheim");
    }
    expect(() => fileStem("arcgis:https://h/arcgis/rest/services/x/ImageServer")).toThrowError(/FeatureServer/);
    expect(() => fileStem("arcgis:roads")).toThrowError(/https/);
  });
});

describe("tokens", () => {
  const tokenError = { error: { code: 499, message: "Token Required", details: [] } };

  it("of the environment are sent in the body, never in an address or message", async () => {
    process.env.GEOFERRY_ARCGIS_TOKEN = "s3cret-token";
    const { server, service } = await serve((asked) =>
      asked.parameters.get("token") === "s3cret-token" ? answerSafety(asked) : tokenError,
    );
    expect((await convertLayer(`${service}/3`)).features).toHaveLength(5);
    expect(server.requests.every(({ method }) => method === "POST")).toBe(true);
  });

  it("that are refused are reported without repeating them", async () => {
    process.env.GEOFERRY_ARCGIS_TOKEN = "s3cret-token";
    const { service } = await serve(() => ({ error: { code: 498, message: "Invalid token s3cret-token" } }));
    await expect(convertLayer(`${service}/3`)).rejects.toMatchObject({
      code: "feature-service-forbidden",
      message: expect.not.stringContaining("s3cret-token"),
    });
  });

  it("are got for user and password, and again when they expire in between", async () => {
    process.env.GEOFERRY_ARCGIS_USER = "ada";
    process.env.GEOFERRY_ARCGIS_PASSWORD = "pass&word";
    let made = 0;
    let pages = 0;
    const { server, service } = await serve((asked) => {
      if (asked.path === "/arcgis/rest/info")
        return { authInfo: { isTokenBasedSecurity: true, tokenServicesUrl: `${server.origin}/arcgis/tokens/` } };
      if (asked.path === "/arcgis/tokens/generateToken") {
        const { parameters, headers } = asked;
        const isRight = parameters.get("username") === "ada" && parameters.get("password") === "pass&word";
        if (!isRight || parameters.get("referer") !== headers.referer) return { error: { code: 400, message: "no" } };
        return { token: `token-${++made}`, expires: Date.now() + 3_600_000, ssl: true };
      }
      if (asked.parameters.has("resultOffset") && pages++ === 1)
        return { error: { code: 498, message: "Invalid Token", details: [] } };
      return asked.parameters.get("token") === `token-${made}` ? answerSafety(asked) : tokenError;
    });
    expect((await convertLayer(`${service}/3`)).features).toHaveLength(5);
    expect(made).toBe(2);
  });

  it("are not asked for of another host than the service's, unless it is named", async () => {
    process.env.GEOFERRY_ARCGIS_USER = "ada";
    process.env.GEOFERRY_ARCGIS_PASSWORD = "pw";
    const { server: other } = await serve(() => ({ token: "t", expires: Date.now() + 3_600_000 }));
    const { service } = await serve((asked) => {
      if (asked.path === "/arcgis/rest/info")
        return { authInfo: { tokenServicesUrl: `${other.origin}/generateToken` } };
      return asked.parameters.get("token") === "t" ? answerSafety(asked) : tokenError;
    });
    await expect(convertLayer(`${service}/3`)).rejects.toMatchObject({
      code: "feature-service-forbidden",
      message: expect.stringContaining(`GEOFERRY_ARCGIS_TOKEN_URL=${other.origin}/generateToken`),
    });
    expect(other.requests).toEqual([]);
    process.env.GEOFERRY_ARCGIS_TOKEN_URL = `${other.origin}/generateToken`;
    expect((await convertLayer(`${service}/3`)).features).toHaveLength(5);
  });

  it("and passwords are not sent over http to another machine", async () => {
    process.env.GEOFERRY_ARCGIS_TOKEN = "t";
    await expect(convertLayer("http://gis.example.org/arcgis/rest/services/a/FeatureServer/0")).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("unencrypted"),
    });
  });
});

describe("attachments", () => {
  const withFiles = (asked: ArcgisRequest) =>
    asked.path.includes("/attachments/") ? { body: "12345" } : answerSafety(asked);

  it("are counted and reported", async () => {
    const { service } = await serve(withFiles);
    const { report } = await convertLayer(`${service}/3`);
    expect(report.losses.find(({ code }) => code === "attachments-left-out")).toMatchObject({
      count: 2,
      example: expect.stringContaining("--in attachments=FOLDER"),
    });
  });

  it("are counted feature by feature where the service cannot list those of several", async () => {
    const { service } = await serve((asked) => {
      if (asked.path.endsWith("/queryAttachments")) return { error: { code: 400, message: "Invalid URL" } };
      if (/\/2\/attachments$/.test(asked.path)) return { attachmentInfos: [{ id: 1, name: "a", size: 1 }] };
      return /\/attachments$/.test(asked.path) ? { attachmentInfos: [] } : answerSafety(asked);
    });
    const { report } = await convertLayer(`${service}/3`);
    expect(report.losses.find(({ code }) => code === "attachments-left-out")?.count).toBe(1);
  });

  it("are downloaded under safe names, and not again", async () => {
    const folder = scratch.path("attachments");
    const { server, service } = await serve(withFiles);
    const request = { readerOptions: { attachments: folder } };
    const { report } = await convertLayer(`${service}/3`, request);
    expect(report.losses.map(({ code }) => code)).not.toContain("attachments-left-out");
    expect(readdirSync(`${folder}/Incidents`).sort()).toEqual(["2-11-_.._ev il_name_.txt", "2-12-CON"]);
    expect(readFileSync(`${folder}/Incidents/2-12-CON`, "utf8")).toBe("12345");
    const before = server.requests.length;
    await convertLayer(`${service}/3`, request);
    expect(server.requests.slice(before).some(({ path }) => path.includes("/attachments/"))).toBe(false);
  });

  it("never replace another file, and leave no part of one that is incomplete", async () => {
    const folder = scratch.path("taken");
    const { service } = await serve((asked) =>
      asked.path.includes("/attachments/12") ? { body: "123" } : withFiles(asked),
    );
    const request = { readerOptions: { attachments: folder } };
    await expect(convertLayer(`${service}/3`, request)).rejects.toMatchObject({ code: "feature-service-incomplete" });
    expect(readdirSync(`${folder}/Incidents`)).toEqual(["2-11-_.._ev il_name_.txt"]);
    writeFileSync(`${folder}/Incidents/2-12-CON`, "my own file");
    await expect(convertLayer(`${service}/3`, request)).rejects.toMatchObject({ code: "output-failed" });
    expect(readFileSync(`${folder}/Incidents/2-12-CON`, "utf8")).toBe("my own file");
    expect(existsSync(scratch.path(`output-${outputs - 1}.geojson`))).toBe(false);
  });
});
