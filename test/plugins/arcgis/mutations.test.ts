/** Damaged files end with an error of the input or a good output: never with another error, and never with a part. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { afterAll, expect, it } from "vitest";
import { GeoferryError } from "../../../src/errors.js";
import { withNetworkSettings } from "../../../src/network-settings.js";
import { convertFile } from "../../support/host.js";
import { createRandom } from "../../support/random.js";
import { TemporaryFolder } from "../../support/read-layers.js";
import { AnsweringServer } from "../../support/servers/answering-server.js";
import { answerSafety } from "./hand-built-service.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());
const mutations = 200;
/** Bytes that matter in JSON. */
const special = Buffer.from('{}[],:"\\0123456789-+.eEntfN \n\0\xff', "latin1");

const intact = Buffer.from(
  JSON.stringify({
    objectIdFieldName: "OBJECTID",
    geometryType: "esriGeometryPolygon",
    spatialReference: { wkid: 102100, latestWkid: 3857 },
    hasZ: true,
    fields: [
      { name: "OBJECTID", type: "esriFieldTypeOID" },
      { name: "name", type: "esriFieldTypeString", alias: "Name", length: 50 },
      { name: "when", type: "esriFieldTypeDate" },
      {
        name: "n",
        type: "esriFieldTypeSmallInteger",
        domain: { type: "codedValue", codedValues: [{ code: 1, name: "x" }] },
      },
    ],
    features: Array.from({ length: 20 }, (_, n) => ({
      attributes: { OBJECTID: n, name: `Straße ${n}`, when: n * 1e11, n: n % 3 },
      geometry:
        n % 3 === 0
          ? {
              curveRings: [
                [
                  [0, 0, n],
                  {
                    c: [
                      [10, 0, 1],
                      [5, 5],
                    ],
                  },
                  {
                    b: [
                      [0, 0, 0],
                      [1, -3],
                      [2, -5],
                    ],
                  },
                ],
              ],
            }
          : {
              rings: [
                [
                  [0, 0, 1],
                  [0, 9, 1],
                  [9, 9, 1],
                  [0, 0, 1],
                ],
                [
                  [1, 2, 3],
                  [2, 3, 3],
                  [1, 3, 3],
                  [1, 2, 3],
                ],
              ],
            },
    })),
    exceededTransferLimit: false,
  }),
);

it(`${mutations} damaged copies of a feature set are read or refused`, async () => {
  const random = createRandom(11);
  const path = scratch.path("damaged.json");
  const output = scratch.path("output.gpkg");
  let complete = 0;
  for (let n = 0; n < mutations; n++) {
    let bytes = Buffer.from(intact);
    const start = Math.floor(random() * bytes.length);
    if (n % 10 === 0) bytes = bytes.subarray(0, start);
    else if (n % 10 === 1) bytes = Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 5)]);
    else if (n % 10 === 2) bytes = Buffer.concat([bytes.subarray(0, start), bytes.subarray(start - 40)]);
    else
      for (let k = 0; k < 1 + (n % 3); k++)
        bytes[Math.floor(random() * bytes.length)] = special[Math.floor(random() * special.length)]!;
    writeFileSync(path, bytes);
    try {
      const options = {
        overwrite: true,
        allowEmpty: true,
        skipErrors: n % 3 === 0,
        readerOptions: { domains: "names" },
      };
      await convertFile(path, output, { ...options, from: "esrijson", ...(n % 2 === 0 && { reproject: false }) });
      complete++;
    } catch (error) {
      if (!(error instanceof GeoferryError) || error.code === "internal")
        throw new Error(`mutation ${n}`, { cause: error });
      expect(["input", "unsupported", "rejected", "usage", "guard"], `mutation ${n}: ${error.message}`).toContain(
        error.kind,
      );
    }
  }
  expect(complete).toBeGreaterThan(20);
  const left = readdirSync(scratch.folder).filter((name) => !/^(damaged\.json|output\.gpkg)$/.test(name));
  expect(existsSync(output)).toBe(true);
  expect(left).toEqual([]);
}, 120_000);

it(`a service with one of its answers damaged in ${mutations} ways is read completely or refused`, async () => {
  const random = createRandom(23);
  const output = scratch.path("service.geojson");
  let target = -1;
  let asked = 0;
  let damage = (text: string): string | null => text;
  const server = await AnsweringServer.start((request) => {
    const answer = answerSafety(request);
    if (asked++ !== target || answer === null) return answer;
    const body = damage(JSON.stringify(answer));
    return body === null ? null : { body };
  });
  const address = `${server.origin}/arcgis/rest/services/Safety/FeatureServer/3`;
  let complete = 0;
  try {
    for (let n = 0; n < mutations; n++) {
      asked = 0;
      target = n % 9;
      damage = (text) => {
        const at = Math.floor(random() * text.length);
        if (n % 8 === 0) return text.slice(0, at);
        if (n % 8 === 1) return null;
        if (n % 8 === 2) return text.slice(0, at) + text.slice(at + 1 + Math.floor(random() * 20));
        if (n % 8 === 3) return text.slice(0, at) + text.slice(Math.max(0, at - 30));
        if (n % 8 === 4)
          return text.replaceAll(/\d+/g, (digits) => (random() < 0.1 ? String(Number(digits) + 1) : digits));
        if (n % 8 === 5) return text.replaceAll(/"\w+":/g, (name) => (random() < 0.1 ? '"other":' : name));
        if (n % 8 === 6) return text.replaceAll(/:[^,{}[\]]+/g, (value) => (random() < 0.1 ? ":null" : value));
        return (
          text.slice(0, at) + String.fromCharCode(special[Math.floor(random() * special.length)]!) + text.slice(at + 1)
        );
      };
      await rm(output, { force: true });
      try {
        await withNetworkSettings({ retries: 0, timeout: 2000 }, () => convertFile(address, output));
        const { features } = JSON.parse(readFileSync(output, "utf8")) as {
          features: { properties: { OBJECTID: number } }[];
        };
        expect(features.length, `mutation ${n}`).toBe(5);
        complete++;
      } catch (error) {
        if (!(error instanceof GeoferryError) || error.code === "internal")
          throw new Error(`mutation ${n}`, { cause: error });
        expect(existsSync(output), `mutation ${n}`).toBe(false);
      }
    }
  } finally {
    await server.close();
  }
  expect(complete).toBeGreaterThan(50);
}, 300_000);
