import { commonType, type Field, type FieldType } from "../../src/model/index.js";
import type {
  Assembler,
  Encoder,
  ReadBack,
  Sink,
  SinkFile,
  TargetLayer,
  WriteContext,
} from "../../src/plugin/format.js";
import type { OptionValues } from "../../src/plugin/options.js";
import { toElementName } from "./element-names.js";
import { fieldsNamespace, Gpx, structureNamespace } from "./elements.js";
import { writeMetadata } from "./metadata.js";
import type { writeOptions } from "./options.js";
import { type GpxChunk, GpxEncoder } from "./write/encoder.js";
import { findDisplayFields } from "./write/field-plan.js";
import { garminNamespace } from "./write/point-elements.js";
import { SpooledPart } from "./write/spooled-part.js";

type Options = OptionValues<typeof writeOptions>;

const gpxNamespaceUri = "http://www.topografix.com/GPX/1/1";
const documentHead = `<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="geoferry" xmlns="${gpxNamespaceUri}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xmlns:gpxtpx="${garminNamespace}" xmlns:geoferry="${fieldsNamespace}" xmlns:gf="${structureNamespace}" \
xsi:schemaLocation="${gpxNamespaceUri} ${gpxNamespaceUri}/gpx.xsd">
`;

export async function createEncoder(
  _layer: TargetLayer,
  options: Options,
  context: WriteContext,
): Promise<Encoder<GpxChunk>> {
  const { precision, zPrecision, extensions } = options;
  const lines = options.lines === "route" ? Gpx.rte : Gpx.trk;
  return new GpxEncoder({ lines, precision, zPrecision, extensions }, context);
}

export async function createAssembler(
  sink: Sink,
  layers: readonly TargetLayer[],
  options: Options,
  context: WriteContext,
): Promise<Assembler<GpxChunk>> {
  const file = await sink.create();
  const { name, fields, metadata = {} } = layers[0]!;
  const described = writeMetadata(name, metadata, (what) => {
    context.reportLoss("metadata-left-out", undefined, `${what} of the metadata is not valid in GPX`);
  });
  await file.write(Buffer.from(`${documentHead}${described}\n`));
  const spool = (part: string) => new SpooledPart(sink.name, () => context.createTemporaryPath(part));
  return new GpxAssembler(file, [spool("routes"), spool("tracks")], fields ?? [], options.extensions);
}

/** Writes waypoints at once, and spools routes and tracks, which the schema requires after them (GPX 1.1, gpxType). */
class GpxAssembler implements Assembler<GpxChunk> {
  private readonly fields: Map<string, FieldType>;

  constructor(
    private readonly file: SinkFile,
    private readonly later: readonly SpooledPart[],
    fields: readonly Field[],
    private readonly declares: boolean,
  ) {
    this.fields = new Map(fields.flatMap(({ name, type, element }) => (element ? [] : [[name, type]])));
  }

  async append({ parts: [waypoints, ...others], fields }: GpxChunk): Promise<void> {
    for (const { name, type } of fields) {
      const known = this.fields.get(name);
      if (known !== type) this.fields.set(name, known === undefined ? type : commonGpxType(known, type));
    }
    if (waypoints!.length > 0) await this.file.write(waypoints!);
    for (const [index, part] of this.later.entries()) await part.add(others[index]!);
  }

  async finish(): Promise<void> {
    try {
      for (const part of this.later) await part.copyTo(this.file);
      await this.file.write(Buffer.from(`${this.declarations()}</gpx>\n`));
    } finally {
      await this.abort();
    }
  }

  /** Declares the names and types of the fields, so that a reader restores them. */
  private declarations(): string {
    if (this.fields.size === 0 || !this.declares) return "";
    const fields = [...this.fields].map(([name, type]) => ({ name, type }));
    const elements = new Map([...findDisplayFields(fields)].map(([element, name]) => [name, ` element="${element}"`]));
    const list = fields.map(
      ({ name, type }) => `<gf:field name="${toElementName(name)}" type="${type}"${elements.get(name) ?? ""}/>`,
    );
    return `<extensions><gf:fields>${list.join("")}</gf:fields></extensions>\n`;
  }

  async abort(): Promise<void> {
    for (const part of this.later) await part.close();
  }
}

/** Returns the type that holds the values of both. */
function commonGpxType(a: FieldType, b: FieldType): FieldType {
  const united = commonType(a, b);
  return united === "json" ? "text" : united;
}

/** Waypoints come before routes, and those before tracks (GPX 1.1, gpxType). */
export const readBack = (_: readonly TargetLayer[], { precision, zPrecision, multipoints }: Options): ReadBack => ({
  decimals: { xy: precision, z: zPrecision },
  types: "value",
  order: "any",
  addedFields: ["_gpxType"],
  splitsMultiPoints: multipoints === "waypoints",
});
