import type { Batch, Feature } from "../../src/model/batch.js";
import type { Column, Value } from "../../src/model/column.js";
import { columnBuilder, pushValue } from "../../src/model/column.js";
import type { FieldType } from "../../src/model/field.js";
import type { Geometry } from "../../src/model/geometry.js";
import { packFeatures } from "../../src/model/pack-features.js";
import { type Loss, type OperationUse, type Reject, Tally } from "../../src/model/report.js";
import { buildStage } from "../../src/stages/build-stage.js";
import type { StageContext } from "../../src/stages/stage.js";

/** A stage context that remembers. */
export class RecordingStageContext implements StageContext {
  readonly layer = "layer";
  constructor(readonly keepsBadGeometries = false) {}
  readonly rejects: Reject[] = [];
  private readonly lossTally = new Tally();
  private readonly noticeTally = new Tally();
  get losses(): Loss[] {
    return this.lossTally.list();
  }
  get notices(): Loss[] {
    return this.noticeTally.list();
  }
  reportLoss(code: string, field: string | undefined, example: string, count = 1): void {
    this.lossTally.add(code, this.layer, field, count, example);
  }
  reportNotice(code: string, field: string | undefined, example: string, count = 1): void {
    this.noticeTally.add(code, this.layer, field, count, example);
  }
  readonly uses: Omit<OperationUse, "layer">[] = [];
  countOperation(use: Omit<OperationUse, "layer">): void {
    this.uses.push(use);
  }
  reject(reject: Reject): void {
    this.rejects.push(reject);
  }
}

/** A column of the type; undefined is absent. */
export function columnOf(type: FieldType, values: readonly (Value | undefined)[]): Column {
  const builder = columnBuilder(type);
  for (const value of values) pushValue(builder, value);
  return builder.finish();
}

/** One feature a geometry, numbered from 1 in the property `n`. */
export function batchOf(geometries: readonly (Geometry | null)[]): Batch {
  return packFeatures(
    geometries.map((geometry, i): Feature => ({ type: "Feature", geometry, properties: { n: i + 1 } })),
    1,
  );
}

/** Builds the stage and applies it to one batch. */
export async function applyStage(
  name: string,
  settings: Readonly<Record<string, unknown>>,
  batch: Batch,
): Promise<{ batch: Batch; heard: RecordingStageContext }> {
  const heard = new RecordingStageContext();
  const stage = await buildStage({ name, settings }, heard);
  return { batch: stage.apply(batch), heard };
}
