import { writeFileSync } from "node:fs";
import { afterAll, expect, it, vi } from "vitest";
import kml from "../../../plugins/kml/index.js";
import { convert } from "../../../src/pipeline/convert.js";
import { convertMany } from "../../../src/pipeline/convert-many.js";
import { Registry } from "../../../src/plugin/registry.js";
import { TemporaryFolder } from "../../../src/testing/index.js";
import { createTestHost } from "../../support/host.js";

const scratch = new TemporaryFolder();
afterAll(() => scratch.remove());

/** A host whose reader of KML counts the datasets that it opens and closes. */
async function createCountingHost() {
  const module = await kml.reader!.load();
  const open = vi.fn(module.open);
  const close = vi.fn();
  const registry = new Registry();
  const host = createTestHost();
  registry.add(
    {
      ...kml,
      reader: {
        ...kml.reader!,
        load: async () => ({
          ...module,
          async open(...of: Parameters<typeof module.open>) {
            const dataset = await open(...of);
            const { layers, scanResult } = dataset;
            return {
              ...{ layers, scanResult },
              async [Symbol.asyncDispose]() {
                close();
                await dataset[Symbol.asyncDispose]();
              },
            };
          },
        }),
      },
    } as typeof kml,
    "kml",
  );
  registry.add(host.registry.get("geopackage"), "geopackage");
  registry.add(host.registry.get("csv"), "csv");
  return { host: { ...host, registry }, open, close };
}

it("opens a source of many layers once for each reading of all, not for each layer", async () => {
  const folder = (n: number) =>
    `<Folder><name>f${n}</name><Placemark><name>p${n}</name><Point><coordinates>${n},1</coordinates></Point></Placemark></Folder>`;
  const input = scratch.path("folders.kml");
  const folders = Array.from({ length: 40 }, (_, n) => folder(n)).join("");
  writeFileSync(input, `<kml xmlns="http://www.opengis.net/kml/2.2"><Document>${folders}</Document></kml>`);

  const { host, open, close } = await createCountingHost();
  const request = { inputs: [input], workers: 1, readerOptions: { layers: "folders" } };
  const report = await convert({ ...request, output: scratch.path("folders.gpkg") }, host);
  expect(report.written).toBe(40);
  // To list the layers, for their summaries, and to convert them.
  expect(open.mock.calls.length).toBeLessThanOrEqual(3);
  expect(close).toHaveBeenCalledTimes(open.mock.calls.length);
});

it("closes the sources of all conversions of a batch, of which several end at once", async () => {
  const { host, open, close } = await createCountingHost();
  const point = "<Placemark><name>a</name><Point><coordinates>8,47</coordinates></Point></Placemark>";
  const inputs = Array.from({ length: 24 }, (_, n) => scratch.path(`one-${n}.kml`));
  for (const input of inputs) writeFileSync(input, `<kml xmlns="http://www.opengis.net/kml/2.2">${point}</kml>`);
  const outcomes = await convertMany({ inputs, output: `${scratch.path("out")}/`, to: "csv", workers: 1 }, host);
  expect(outcomes.map(({ report }) => report?.written)).toEqual(inputs.map(() => 1));
  expect(open.mock.calls.length).toBeGreaterThanOrEqual(inputs.length);
  expect(close).toHaveBeenCalledTimes(open.mock.calls.length);
});
