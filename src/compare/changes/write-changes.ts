/** Writes changes through the pipeline, so that each format gets what it can hold, and losses are reported. */
import { join } from "node:path";
import type { Spool } from "../../io/input/spool.js";
import { convert } from "../../pipeline/convert.js";
import { chooseWriter } from "../../pipeline/plan/plan-outputs.js";
import type { ConvertReport } from "../../pipeline/report.js";
import type { ConvertRequest, Host } from "../../pipeline/request.js";
import type { ComparedLayer, CompareEvents } from "../compare.js";
import { comparisonFormatId } from "../spool/comparison-format.js";
import { withComparisonFormat } from "../spool/read-side.js";
import { manifestName, SpooledLayer, writeManifest } from "../spool/spooled-side.js";
import { ChangeLayerBuilder } from "./change-layer.js";

export type ChangesOutput = Pick<ConvertRequest, "output" | "to" | "writerOptions" | "overwrite" | "targetCrs">;

/** Collects the changes of a comparison in temporary files, and writes them into one output. */
export class ChangesWriter implements Disposable {
  private readonly layers: { readonly builder: ChangeLayerBuilder; readonly spooled: SpooledLayer }[] = [];

  /** @throws format-undecided, format-cannot-write, option-unknown, option-invalid, output-not-stream */
  constructor(
    private readonly request: ChangesOutput,
    private readonly host: Host,
    private readonly spool: Spool,
  ) {
    chooseWriter({ ...request, inputs: [] }, host);
  }

  readonly events: Required<CompareEvents> = {
    onLayer: (layer) => this.open(layer),
    onChange: (change) => this.layers.at(-1)!.builder.add(change),
  };

  private open(layer: ComparedLayer): void {
    const spooled: SpooledLayer = new SpooledLayer(
      this.spool.folder(),
      layer.name,
      layer.comparedCrs,
      null,
      comparisonFormatId,
    );
    const builder = new ChangeLayerBuilder(layer, (chunk) => spooled.add(chunk));
    spooled.declare(builder.fields);
    this.layers.push({ builder, spooled });
  }

  /** In the reference system of the compared coordinates if the format can hold it. @throws errors of `convert` */
  async write(): Promise<ConvertReport> {
    for (const { builder } of this.layers) builder.flush();
    const manifest = join(this.spool.folder(), manifestName);
    writeManifest(
      manifest,
      this.layers.map(({ spooled }) => spooled),
    );
    const host = {
      ...this.host,
      registry: withComparisonFormat(this.host.registry),
      displayNames: new Map([[manifest, "the changes"]]),
    };
    return convert(
      { ...this.request, ...this.coordinates(), inputs: [manifest], from: comparisonFormatId, allowEmpty: true },
      host,
    );
  }

  private coordinates(): Pick<ConvertRequest, "targetCrs" | "reproject"> {
    const { targetCrs } = this.request;
    if (targetCrs !== undefined) return { targetCrs };
    const systems = this.layers.map(({ spooled }) => spooled.crs);
    const [first] = systems;
    if (systems.some((crs) => crs === null)) return { reproject: false };
    const holdsAny = chooseWriter({ ...this.request, inputs: [] }, this.host).capabilities.crs === "any";
    const isCommon = systems.every((crs) => crs?.definition === first?.definition);
    return holdsAny && isCommon && first ? { targetCrs: first.id ?? first.definition } : {};
  }

  [Symbol.dispose](): void {
    for (const { spooled } of this.layers) spooled[Symbol.dispose]();
  }
}
