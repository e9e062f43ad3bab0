import { isWgs84 } from "../crs/index.js";
import { fault } from "../errors.js";
import type { Crs } from "../model/layer.js";
import type { TargetLayer } from "../plugin/format.js";
import { type FitPlan, planFit, summaryOfPart } from "../stages/fit.js";
import type { StageSpec } from "../stages/stage.js";
import type { Conversion } from "./conversion.js";
import { type FirstReading, readFirst, type ShapedInput } from "./first-reading.js";
import { type OutputLayer, withSuffix } from "./outputs.js";
import { needsSummary } from "./reading.js";
import { checkNames, planShape } from "./shape.js";

/** A part of an output layer, and the file that it goes into. */
export interface PlannedPart {
  readonly layer: TargetLayer;
  readonly path: string;
}

/** An output layer with all that is decided about it before its features are written. */
export interface PlannedLayer {
  readonly inputs: readonly ShapedInput[];
  readonly fit: FitPlan;
  readonly crs: Crs | null;
  readonly parts: readonly PlannedPart[];
  /** What the first reading said; empty where there was none. */
  readonly said: FirstReading["said"];
}

/** @throws crs-unknown, crs-no-operation, crs-not-writable, field-missing, unsupported, usage, output-exists … */
export async function planLayer(conversion: Conversion, path: string, layer: OutputLayer): Promise<PlannedLayer> {
  const { request, writer, target, gathered, paths } = conversion;
  const { accepts, format } = writer;
  checkNames(layer.inputs, request);
  const inputs = [];
  for (const open of layer.inputs) {
    const shape = await planShape(open, request, target, gathered);
    inputs.push({ open, shape: { ...shape, stages: [...shape.stages, ...stagesOfWriter(conversion)] } });
  }
  const all = inputs.map((input) => input.shape.crs);
  const crs = writableCrs(conversion, all);
  const first = needsSummary(accepts) ? await readFirst(conversion, inputs) : null;
  const summary = first?.summary ?? null;
  const fit = planFit(summary, accepts, format.label, request.append === true);
  reportFit(conversion, layer.name, fit);
  const adds = layer.inputs.some((open) => open.existing);
  const parts = fit.parts.map((part): PlannedPart => {
    const suffix = part.name === "" ? "" : `_${part.name}`;
    const own = accepts.layers === "one" && suffix !== "" ? withSuffix(path, suffix, format) : path;
    if (own !== path && adds) throw otherGeometry(path, fit);
    if (own !== path) paths.addPart(own);
    paths.declareCrs(own, crs);
    return {
      layer: {
        name: `${layer.name}${suffix}`,
        crs,
        fields: fit.fields?.map(({ source: _, ...field }) => field) ?? null,
        summary: summary && summaryOfPart(fit, part, summary),
      },
      path: own,
    };
  });
  return { inputs, fit, crs, parts, said: first?.said ?? new Map() };
}

function otherGeometry(path: string, fit: FitPlan): Error {
  const kinds = fit.parts.map((part) => part.name).join(", ");
  const reason = `${fit.target} holds one kind of geometry a file, and with what is appended there would be ${kinds}`;
  return fault("unsupported", { source: path, reason });
}

/** What the writer's limits ask of every geometry before the layer is summed up. */
function stagesOfWriter({ writer }: Conversion): StageSpec[] {
  const { geometryTypes, shortLines = false } = writer.accepts;
  // First, so that a collection is merged for what is left of it.
  const stages: StageSpec[] = [{ name: "drop-degenerate", settings: { shortLines } }];
  if (!geometryTypes.includes("GeometryCollection")) stages.push({ name: "merge-collections", settings: {} });
  return stages;
}

/** The CRS that the output says: what the layers have in common, if the format can hold it. */
function writableCrs({ target, writer }: Conversion, all: readonly (Crs | null)[]): Crs | null {
  const first = all[0] ?? null;
  const alike = all.every((crs) => crs?.definition === first?.definition);
  if (!alike && target === null && all.every((crs) => crs !== null)) {
    const names = [...new Set(all.map((crs) => crs?.id ?? crs?.name))].join(" and ");
    throw fault("usage", { reason: `--no-reproject would put coordinates in ${names} into one layer` });
  }
  const common = alike ? first : null;
  if (common === null || writer.accepts.crs === "any" || isWgs84(common)) return common;
  if (target === null) return null;
  throw fault("crs-not-writable", { format: writer.format.id, crs: common.id ?? common.name });
}

/** That a name is too long shows; that another one stands in its way, in other letters, does not. */
function whyRenamed(source: string, fit: FitPlan): string {
  const twin = fit.fields?.find(({ name }) => name !== source && name.toLowerCase() === source.toLowerCase());
  return twin ? `, since ${fit.target} takes it and "${twin.name}" for one` : "";
}

/** Tells what a plan changes about names and ids. */
function reportFit({ gathered: { losses, notices } }: Conversion, layer: string, fit: FitPlan): void {
  for (const { source, name } of fit.fields ?? []) {
    if (source === null) {
      const example = `${fit.target} has no feature ids; they are in the field "${name}"`;
      notices.add("id-as-field", layer, name, 1, example);
    } else if (source !== name) {
      losses.add("field-renamed", layer, source, 1, `"${source}" became "${name}"${whyRenamed(source, fit)}`);
    }
  }
  if (fit.parts.length > 1) {
    const names = fit.parts.map((part) => part.name).join(", ");
    const example = `${fit.target} holds one kind of geometry a file: split into ${names}`;
    notices.add("layer-split", layer, undefined, 1, example);
  }
}
