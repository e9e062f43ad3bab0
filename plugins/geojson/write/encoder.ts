import { type Batch, Kind } from "../../../src/model/index.js";
import type { WriteContext } from "../../../src/plugin/format.js";
import { type AttributeSettings, AttributeWriter } from "../../shared/json/attribute-writer.js";
import { reportCollapsedGeometries } from "../../shared/rounding-collapse.js";
import { EncodedText } from "../../shared/text/literal.js";
import { TextBuffer } from "../../shared/text/text-buffer.js";
import { splitAtAntimeridian } from "./antimeridian.js";
import { Bounds, GeoJsonGeometryWriter, type GeometrySettings } from "./geometry-writer.js";

/** The encoded features of a batch. */
export interface FeatureChunk {
  readonly bytes: Uint8Array;
  readonly count: number;
  /** Minimum and maximum x, y, z, if the options require them. */
  readonly least: readonly number[] | null;
  readonly most: readonly number[] | null;
}

export interface EncoderSettings extends GeometrySettings, AttributeSettings {
  /** Text before and after each feature. */
  readonly before: string;
  readonly after: string;
  readonly cut: boolean;
  readonly fileBounds: boolean;
  readonly featureBounds: boolean;
}

const propertiesMember = new EncodedText(',"properties":{');
const geometryMember = new EncodedText('},"geometry":');
/** Writes batches as features, one after another. */
export class FeatureEncoder {
  private readonly out = new TextBuffer(1 << 14);
  private readonly text: GeoJsonGeometryWriter;
  private readonly before: EncodedText;
  private readonly after: EncodedText;
  private readonly attributes: AttributeWriter;

  constructor(
    private readonly settings: EncoderSettings,
    private readonly context: WriteContext,
  ) {
    this.text = new GeoJsonGeometryWriter(this.out, settings);
    this.attributes = new AttributeWriter(this.out, settings, context);
    this.before = new EncodedText(`${settings.before}{"type":"Feature"`);
    this.after = new EncodedText(`}${settings.after}`);
  }

  encode(batch: Batch): FeatureChunk {
    const { out, settings, attributes } = this;
    const shapes = settings.cut
      ? splitAtAntimeridian(batch.geometry, (uncut) => this.reportUncut(uncut))
      : batch.geometry;
    attributes.begin(batch);
    const bounds = new Bounds();
    let infinite = 0;
    for (let row = 0; row < batch.length; row++) {
      out.literal(this.before);
      attributes.id(row);
      if (settings.fileBounds && shapes.kinds[row] !== Kind.none) bounds.addGeometry(shapes, row);
      if (settings.featureBounds) {
        const box = new Bounds();
        box.addGeometry(shapes, row);
        box.write(out, settings);
      }
      out.literal(propertiesMember);
      attributes.properties(row);
      out.literal(geometryMember);
      if (!this.text.write(shapes, row)) infinite++;
      out.literal(this.after);
    }
    if (infinite > 0) {
      this.context.reportLoss(
        "non-finite-value",
        undefined,
        "a geometry with a coordinate that is not a number became null",
        infinite,
      );
    }
    reportCollapsedGeometries(shapes, settings.precision, this.context);
    const { least: low, most: high } = bounds;
    const wanted = settings.fileBounds;
    return { bytes: out.finish(), count: batch.length, least: wanted ? low : null, most: wanted ? high : null };
  }

  private reportUncut(count: number): void {
    const example = "a line or polygon goes more than a hundred times around the world, and was not cut";
    this.context.reportLoss("antimeridian-not-cut", undefined, example, count);
  }
}
