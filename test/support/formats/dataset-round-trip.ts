import assert from "node:assert/strict";
import { join } from "node:path";
import { crsContext } from "../../../src/crs/index.js";
import type { Loss } from "../../../src/model/report.js";
import type { ConvertReport, OutputReport } from "../../../src/pipeline/report.js";
import type { Format, WriterCapabilities } from "../../../src/plugin/format.js";
import {
  fittedBatches,
  openWriter,
  planTargets,
  RecordingContext,
  readFile,
  TemporaryFolder,
  writeFile,
  writeLayers,
} from "../../../src/testing/index.js";
import { TestFolderSink } from "../../../src/testing/temporary-folder.js";
import { convertFile } from "../host.js";
import { TripExemptions } from "./exemptions.js";
import { batchOf, type GeneratedLayer, withKey } from "./generated-layers.js";
import { crsFor, losslessOptions, RoundTrip, type Table, tableOf, toTripReport } from "./round-trip.js";

/** A dataset of several layers as fast-check makes it. */
export type GeneratedDataset = readonly { readonly name: string; readonly layer: GeneratedLayer }[];

/** With which options a reader tells the layers apart that are in the first file. */
const separatelyComparedFormats: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  gpx: { layers: "kinds" },
  kml: { layers: "folders" },
};

const holdsSeveral = (accepts: WriterCapabilities): boolean => accepts.layers === "many";

async function acceptsOf(format: Format): Promise<WriterCapabilities> {
  return (await openWriter(format, losslessOptions[format.id])).capabilities;
}

/** Writes the layers into one file, under names that the format takes; a GPX has those of the first, by their kinds. */
async function writeDataset(format: Format, folder: string, dataset: GeneratedDataset): Promise<string> {
  const options = losslessOptions[format.id] ?? {};
  const writer = await openWriter(format, options);
  if (!holdsSeveral(writer.capabilities)) {
    const [file] = await writeFile(format, folder, batchOf(withKey(dataset[0]!.layer)), { options, name: "a" });
    return file!.path;
  }
  const path = join(folder, `a.${format.extensions[0]}`);
  const layers = dataset.map(({ name, layer }) => {
    const batch = batchOf(withKey(layer));
    const own = writer.capabilities.normalizeLayerName?.(name) ?? name;
    const [target] = planTargets(format, writer.capabilities, batch, own, crsContext.wgs84);
    return { target: target!.layer, batches: fittedBatches(target!, batch, 1000) };
  });
  const sink = new TestFolderSink(path);
  try {
    await writeLayers(writer, sink, layers, new RecordingContext(), false);
  } finally {
    await sink.close();
  }
  return path;
}

/** What the reports of one direction say of a layer, which they call by one of these names. */
function layerReport(reports: readonly ConvertReport[], rejected: number, names: readonly string[]) {
  const ofLayer = (list: readonly Loss[]) =>
    list.filter(({ code, layer }) => code !== "layer-renamed" && names.includes(layer));
  const losses = ofLayer(reports.flatMap((report) => report.losses));
  const notices = ofLayer(reports.flatMap((report) => report.notices));
  return toTripReport([{ ...reports[0]!, losses, notices, rejected }]);
}

/** What a layer is called in the output: its own name, unless the report says that it was renamed. */
function renamed(reports: readonly ConvertReport[], name: string): string {
  const losses = reports.flatMap((report) => report.losses).filter(({ code }) => code === "layer-renamed");
  const found = losses.find(({ example }) => example.startsWith(`the layer "${name}" became "`));
  return found?.layer ?? name;
}

/**
 * Takes a dataset, written as `a`, to `b` and back. Each layer must come back under the name that the reports say, with
 * what they say that it has lost, no more and no less.
 * @throws AssertionError
 */
export async function layersRoundTrip(a: Format, b: Format, dataset: GeneratedDataset): Promise<void> {
  const scratch = new TemporaryFolder();
  try {
    await new DatasetTrip(a, b, scratch.folder).run(dataset);
  } finally {
    scratch.remove();
  }
}

class DatasetTrip {
  constructor(
    private readonly a: Format,
    private readonly b: Format,
    private readonly folder: string,
  ) {}

  private async convert(from: Format, inputs: readonly string[], to: Format, name: string): Promise<ConvertReport> {
    return convertFile(inputs[0]!, join(this.folder, `${name}.${to.extensions[0]}`), {
      inputs,
      from: from.id,
      to: to.id,
      readerOptions: this.readerOptions(from),
      ...(await crsFor(from, inputs)),
      writerOptions: losslessOptions[to.id] ?? {},
    });
  }

  /** What stands in between in a file for each layer is read as one. */
  private readerOptions(format: Format): Readonly<Record<string, string>> {
    return (format === this.a || format.id === "kml" ? separatelyComparedFormats[format.id] : undefined) ?? {};
  }

  async run(dataset: GeneratedDataset): Promise<void> {
    const { a, b } = this;
    const [ofA, ofB] = [await acceptsOf(a), await acceptsOf(b)];
    const path = await writeDataset(a, this.folder, dataset);
    const first = await readFile(a, path, { options: this.readerOptions(a) });
    const out = await this.convert(a, [path], b, "b");
    const files = [...new Set(out.outputs.map((output) => output.path))];
    // Of several inputs, a format of one layer makes one.
    const sets = holdsSeveral(ofA) ? [files] : files.map((file) => [file]);
    const back: ConvertReport[] = [];
    for (const [n, inputs] of sets.entries()) back.push(await this.convert(b, inputs, a, `back-${n}`));
    const last = new Map<OutputReport, Table>();
    for (const { outputs } of back) for (const output of outputs) last.set(output, await this.lastOf(output, ofA));
    if (holdsSeveral(ofA)) {
      const [{ outputs }] = back as [ConvertReport];
      const came = await readFile(a, outputs[0]!.path, { options: this.readerOptions(a) });
      const told = outputs.map(({ layer }) => layer);
      assert.deepEqual(came.map(({ info }) => info.name).sort(), told.sort(), "the layers that came back");
    }
    const held = new Set(ofA.fieldTypes.filter((type) => ofB.fieldTypes.includes(type)));
    const exempt = new TripExemptions([a.id, b.id]);
    let [left, returned] = [out.rejected, back.reduce((sum, { rejected }) => sum + rejected, 0)];
    for (const layer of first) {
      const table = tableOf(layer);
      const between = partsOf([out], layer.info.name, ofB);
      const names = await Promise.all(between.map((output) => this.nameBetween(output, ofB)));
      const ends = names.flatMap((name) => partsOf(back, name, ofA));
      const [written, came] = [featuresOf(between), featuresOf(ends)];
      left -= table.rows.length - written;
      returned -= written - came;
      const legs = [
        layerReport([out], table.rows.length - written, [layer.info.name, ...between.map((output) => output.layer)]),
        layerReport(back, written - came, [...names, ...ends.map((output) => output.layer)]),
      ] as const;
      const tables = ends.map((output) => last.get(output)!);
      new RoundTrip(table, tables, ...legs, exempt, held).check();
    }
    assert.deepEqual([left, returned], [0, 0], "features that did not come, and were not rejected");
  }

  /** What the reader of the format in between calls it. */
  private async nameBetween({ path, layer }: OutputReport, accepts: WriterCapabilities): Promise<string> {
    if (holdsSeveral(accepts)) return layer;
    const [only] = await readFile(this.b, path);
    return only!.info.name;
  }

  /** A layer that came back, as its reader has it. */
  private async lastOf({ path, layer, features }: OutputReport, accepts: WriterCapabilities): Promise<Table> {
    const layers = await readFile(this.a, path, holdsSeveral(accepts) ? { options: this.readerOptions(this.a) } : {});
    const found = holdsSeveral(accepts) ? layers.find(({ info }) => info.name === layer) : layers[0];
    assert.ok(found, `there is no layer "${layer}" in ${path}`);
    const table = tableOf(found);
    assert.equal(table.rows.length, features, "the features that the report counts");
    return table;
  }
}

const featuresOf = (outputs: readonly OutputReport[]): number =>
  outputs.reduce((sum, output) => sum + output.features, 0);

/** The layers of the output that a layer became, by the report alone. */
function partsOf(
  reports: readonly ConvertReport[],
  name: string,
  { families = [] }: WriterCapabilities,
): readonly OutputReport[] {
  const own = renamed(reports, name);
  const names = [own, ...families.map((family) => `${own}_${family.suffix}`)];
  const found = reports.flatMap(({ outputs }) => outputs).filter(({ layer }) => names.includes(layer));
  assert.ok(found.length > 0, `nothing was written of the layer "${name}"`);
  return found;
}
