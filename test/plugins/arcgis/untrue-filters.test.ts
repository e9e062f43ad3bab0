/** Services that select other features than a filter means, or send other reference systems than they declare. */
import { readFileSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { ConvertRequest } from "../../../src/pipeline/request.js";
import { convertFile } from "../../support/host.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { AnsweringServer, type ArcgisRequest } from "../../support/servers/answering-server.js";

const scratch = new TemporaryFolder();
const servers: AnsweringServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
afterAll(() => scratch.remove());

interface Line {
  readonly attributes: { readonly OBJECTID: number; readonly lanes: number };
  readonly geometry: object;
}
/** Lines from n° to n + 1° of longitude; `lanes` are 10, 11 … */
const lines: readonly Line[] = Array.from({ length: 10 }, (_, n) => ({
  attributes: { OBJECTID: n + 1, lanes: n + 10 },
  geometry: {
    paths: [
      [
        [n, 10],
        [n + 1, 10.5],
      ],
    ],
  },
}));

type Box = { readonly xmin: number; readonly xmax: number };
interface Selecting {
  /** @param n number of the line, which reaches from n to n + 1 */
  readonly box?: (box: Box, n: number) => boolean;
  readonly compares?: (value: number, bound: string) => boolean;
  readonly hasPages?: boolean;
  readonly features?: readonly Line[];
}

const meets = ({ xmin, xmax }: Box, n: number) => n <= xmax && n + 1 >= xmin;
const asNumbers = (value: number, bound: string) => value > Number(bound);
const asTexts = (value: number, bound: string) => String(value) > bound;

/** Conditions such as `lanes > 9 AND OBJECTID <= 5`. */
function isSelected(
  { attributes }: Line,
  where: string,
  isGreater: (value: number, bound: string) => boolean,
): boolean {
  if (where === "1=1") return true;
  return where.split(" AND ").every((condition) => {
    const [, name, comparison, bound] = /^(\w+) (<=|>=|<|>|=) (\S+)$/.exec(condition)!;
    const value = attributes[name as "lanes"];
    const isEqual = String(value) === bound;
    if (comparison === "=" || (comparison!.endsWith("=") && isEqual)) return isEqual;
    return comparison!.startsWith(">") ? isGreater(value, bound!) : !isEqual && !isGreater(value, bound!);
  });
}

function answer(asked: ArcgisRequest, selecting: Selecting): object {
  const { box = meets, compares = asNumbers, hasPages = true, features = lines } = selecting;
  const spatialReference = { wkid: 4326 };
  if (!asked.path.endsWith("/query"))
    return {
      ...{
        id: 0,
        name: "Roads",
        type: "Feature Layer",
        geometryType: "esriGeometryPolyline",
        objectIdField: "OBJECTID",
      },
      ...{ capabilities: "Query", maxRecordCount: 1000, extent: { spatialReference } },
      advancedQueryCapabilities: { supportsPagination: hasPages },
      fields: [
        { name: "OBJECTID", type: "esriFieldTypeOID" },
        { name: "lanes", type: "esriFieldTypeInteger" },
      ],
    };
  const { parameters } = asked;
  const geometry = parameters.get("geometry");
  const ids = parameters.get("objectIds")?.split(",").map(Number);
  const found = features.filter(
    (line, n) =>
      (!ids || ids.includes(line.attributes.OBJECTID)) &&
      (geometry === null || box(JSON.parse(geometry) as Box, n)) &&
      isSelected(line, parameters.get("where") ?? "1=1", compares),
  );
  if (parameters.get("returnCountOnly") === "true") return { count: found.length };
  if (parameters.get("returnIdsOnly") === "true")
    return { objectIdFieldName: "OBJECTID", objectIds: found.map(({ attributes }) => attributes.OBJECTID) };
  return { objectIdFieldName: "OBJECTID", spatialReference, features: found };
}

let outputs = 0;
/** @returns the object ids in the output, and the requests for pages */
async function convertRoads(selecting: Selecting, request: Partial<ConvertRequest>) {
  const server = await AnsweringServer.start((asked) => answer(asked, selecting));
  servers.push(server);
  const output = scratch.path(`output-${outputs++}.geojson`);
  await convertFile(`${server.origin}/arcgis/rest/services/Roads/MapServer/0`, output, request);
  const { features } = JSON.parse(readFileSync(output, "utf8")) as { features: { properties: { OBJECTID: number } }[] };
  const pages = server.requests.filter(({ parameters }) => parameters.has("resultOffset"));
  return { ids: features.map(({ properties }) => properties.OBJECTID), pages };
}

describe("a box", () => {
  const request = { bbox: [2.9, 0, 7.1, 20] } as const;
  // The lines from 2° to 3° and from 7° to 8° reach into the box.
  const wanted = [3, 4, 5, 6, 7, 8];

  it.each([true, false])("is left to a service that applies it (pages: %s)", async (hasPages) => {
    const { ids, pages } = await convertRoads({ hasPages }, request);
    expect(ids).toEqual(wanted);
    expect(pages.every(({ parameters }) => parameters.has("geometry"))).toBe(true);
  });

  it.each<[string, (box: Box, n: number) => boolean]>([
    ["lies within it", ({ xmin, xmax }, n) => n >= xmin && n + 1 <= xmax],
    ["has its middle in it", ({ xmin, xmax }, n) => n + 0.5 >= xmin && n + 0.5 <= xmax],
    ["begins at another place", ({ xmin, xmax }, n) => n > xmin + 3 && n < xmax + 3],
  ])("is not left to a service that selects what %s", async (_, box) => {
    expect((await convertRoads({ box }, request)).ids).toEqual(wanted);
  });
});

describe("a comparison of numbers", () => {
  const request = { where: "lanes > 9" };
  const all = lines.map(({ attributes }) => attributes.OBJECTID);

  it("is left to a service that applies it", async () => {
    const { ids, pages } = await convertRoads({}, request);
    expect(ids).toEqual(all);
    expect(pages[0]!.parameters.get("where")).toBe("lanes > 9");
  });

  it("is not left to a service that compares them as texts", async () => {
    expect((await convertRoads({ compares: asTexts }, request)).ids).toEqual(all);
  });
});

it("is refused if a geometry has another reference system than its layer", async () => {
  const features = lines.map((line, n) =>
    n === 4 ? { ...line, geometry: { ...line.geometry, spatialReference: { wkid: 3857 } } } : line,
  );
  await expect(convertRoads({ features }, {})).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("--source-crs"),
  });
});
