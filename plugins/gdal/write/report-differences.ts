/** Reports differences between the input and the output read back: GDAL's drivers change much silently. */
import { type Crs, type Field, type FieldType, Kind, typesIn } from "../../../src/model/index.js";
import type { TargetLayer, WriteContext } from "../../../src/plugin/index.js";
import type { DriverInfo, WrittenLayer } from "../process/protocol.js";
import { reportWarning } from "../process/report-warning.js";

/** GDAL warnings that indicate data loss. */
const lossWarningPattern =
  /truncat|not (fit|creat|support|written|be converted|handle|saved)|lost|loss|overflow|drop|clamp|ignor|discard|out of range|replaced|larger than/i;

/** GDAL warnings that `reportDifferences` covers. */
const ignoredWarningPattern = /does not support arbitrary field creation/;

export function reportWriteWarning(warning: string, context: WriteContext): void {
  if (!ignoredWarningPattern.test(warning)) reportWarning(warning, context, (text) => lossWarningPattern.test(text));
}

const localCrsPattern = /^(|(LOCAL_CS|ENGCRS|ENGINEERINGCRS|COORDINATESYSTEM)\b.*)$/is;

function reportCrs({ crs, summary }: TargetLayer, wkt: string, label: string, context: WriteContext): void {
  const hasGeometry = summary === null || typesIn(summary).length > 0;
  if (crs === null || !hasGeometry || !localCrsPattern.test(wkt)) return;
  reportUndeclaredCrs(label, crs, context);
}

export function reportUndeclaredCrs(label: string, crs: Crs, context: Pick<WriteContext, "reportLoss">): void {
  const example = `${label} cannot declare the CRS ${crs.id ?? crs.name}; omit --target-crs and --no-reproject, or choose another format`;
  context.reportLoss("crs-undeclared", undefined, example);
}

/** Statistics of a layer sent to GDAL; values and sums by field. */
export interface SentStatistics {
  readonly features: number;
  readonly values: readonly number[];
  readonly sums: readonly number[];
}

/** Relative tolerance for sums, which depend on the order of addition. */
const sumTolerance = 1e-9;

/** NaN sums are not compared. */
const isDifferentSum = (sent: number, found: number): boolean =>
  Number.isFinite(sent) && !(Math.abs(sent - found) <= sumTolerance * Math.max(Math.abs(sent), Math.abs(found)));

const isNumeric: ReadonlySet<FieldType> = new Set(["boolean", "int32", "int64", "double"]);

function reportValues(
  { name, type }: Field,
  sent: { readonly count: number; readonly sum: number },
  written: WrittenLayer["fields"][number],
  label: string,
  context: WriteContext,
): void {
  const found = written.values;
  const lacking = sent.count - (found.count ?? sent.count);
  if (lacking > 0) context.reportLoss("values-dropped", name, `${label} wrote null instead of some values`, lacking);
  else if (lacking < 0) {
    context.reportLoss("null-filled", name, `${label} has no null here; it wrote 0 or empty text`, -lacking);
  }
  if (found.sum === null || written.type !== type) return;
  const difference = Math.abs(sent.sum - found.sum);
  if (type === "text" && difference > 0) {
    const example = `the output has ${found.sum} bytes of text instead of ${sent.sum}`;
    context.reportLoss("text-changed", name, example, Math.min(sent.count, difference));
  }
  if (isNumeric.has(type) && lacking === 0 && isDifferentSum(sent.sum, found.sum)) {
    const example = `the numbers add up to ${found.sum} instead of ${sent.sum}`;
    context.reportLoss("values-changed", name, example, sent.count);
  }
}

function reportFields(
  layer: TargetLayer,
  sent: SentStatistics,
  written: WrittenLayer,
  label: string,
  context: WriteContext,
): void {
  const fields = layer.fields ?? [];
  const there = new Map(written.fields.map((field) => [field.name.toLowerCase(), field]));
  const named = new Set(fields.map(({ name }) => name.toLowerCase()));
  const isComparable = written.features === sent.features;
  fields.forEach(({ name, type }, f) => {
    const count = sent.values[f]!;
    const same = there.get(name.toLowerCase());
    const inPlace = written.fields.length === fields.length ? written.fields[f] : undefined;
    const found = same ?? (inPlace && !named.has(inPlace.name.toLowerCase()) ? inPlace : undefined);
    if (!found) {
      if (count > 0) context.reportLoss("field-dropped", name, `${label} has no field of this name`, count);
      return;
    }
    if (found.name !== name)
      context.reportLoss("field-renamed", name, `${label} renamed it to "${found.name}"`, Math.max(1, count));
    if (found.type !== type && count > 0)
      context.reportLoss("type-changed", name, `${type} became ${found.type}`, count);
    if (isComparable && found.type === type)
      reportValues({ name, type }, { count, sum: sent.sums[f]! }, found, label, context);
  });
}

/** Tolerance for the extent, in degrees and in units of a projected CRS. */
const [degreeTolerance, unitTolerance] = [1e-6, 1e-3] as const;

function reportGeometry(
  { summary, crs }: TargetLayer,
  written: WrittenLayer,
  label: string,
  context: WriteContext,
): void {
  const geometries = (summary?.featureCount ?? 0) - (summary?.kinds[Kind.none]?.count ?? 0);
  if (geometries === 0) return;
  if (written.isTable) {
    context.reportLoss("geometry-dropped", undefined, `${label} has no geometries here`, geometries);
    return;
  }
  const { extent } = summary!;
  if (!extent || !written.extent) return;
  const tolerance = crs?.kind === "projected" ? unitTolerance : degreeTolerance;
  if (extent.every((corner, n) => Math.abs(corner - written.extent![n]!) <= tolerance)) return;
  const example = `the extent is ${written.extent.join(" ")} instead of ${extent.join(" ")}`;
  context.reportLoss("coordinates-changed", undefined, example, geometries);
}

/** Reports losses by comparing the layers of the output with what was sent. */
export function reportDifferences(
  found: readonly WrittenLayer[],
  layers: readonly TargetLayer[],
  sent: readonly SentStatistics[],
  { label }: DriverInfo,
  context: WriteContext,
): void {
  layers.forEach((layer, n) => {
    const sameName = found.find(({ name }) => name.toLowerCase() === layer.name.toLowerCase());
    const written = sameName ?? (found.length === layers.length ? found[n] : undefined);
    if (!written) return;
    const { features } = sent[n]!;
    reportCrs(layer, written.wkt, label, context);
    reportGeometry(layer, written, label, context);
    if (features > 0) reportFields(layer, sent[n]!, written, label, context);
    const example = `the file has ${written.features} features of "${layer.name}" instead of ${features}`;
    const lacking = features - written.features;
    if (lacking > 0) context.reportLoss("features-dropped", undefined, example, lacking);
    if (lacking < 0) context.reportLoss("features-split", undefined, example, -lacking);
  });
}
