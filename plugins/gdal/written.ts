/** What became of what was written: GDAL's drivers change much without a word. */
import type { Crs } from "../../src/model/index.js";
import type { TargetLayer, WriteContext } from "../../src/plugin/index.js";
import type { DriverFacts, WrittenLayer } from "./protocol.js";

/** Words in GDAL's warnings that speak of something that did not come through. */
const speaksOfLoss =
  /truncat|not (fit|creat|support|written|be converted|handle|saved)|lost|loss|overflow|drop|clamp|ignor|discard|out of range|replaced|larger than/i;

/** What is told in words of our own, from a look at the file. */
const isToldOtherwise = /does not support arbitrary field creation/;

export function tellWarning(warning: string, context: WriteContext): void {
  if (isToldOtherwise.test(warning)) return;
  const text = warning.replace(/^\w+ \d+: /, "");
  if (speaksOfLoss.test(text)) context.lose("gdal-warning", undefined, text);
  else context.notice("gdal-warning", undefined, text);
}

const withoutEarth = /^(|(LOCAL_CS|ENGCRS|ENGINEERINGCRS|COORDINATESYSTEM)\b.*)$/is;

function tellCrs(crs: Crs | null, wkt: string, label: string, context: WriteContext): void {
  if (crs === null || !withoutEarth.test(wkt)) return;
  const example = `${label} does not say that the coordinates are in ${crs.id ?? crs.name}`;
  context.lose("crs-undeclared", undefined, example);
}

function tellFields(layer: TargetLayer, written: WrittenLayer, label: string, context: WriteContext): void {
  const there = new Map(written.fields.map((field) => [field.name.toLowerCase(), field]));
  for (const { name, type } of layer.fields ?? []) {
    const values = layer.summary?.fields.find((field) => field.name === name)?.values ?? 1;
    const found = there.get(name.toLowerCase());
    if (!found) {
      if (values > 0) context.lose("field-dropped", name, `${label} has no field of this name`, values);
    } else if (found.type !== type && values > 0) {
      context.lose("type-changed", name, `${type} became ${found.type}`, values);
    }
  }
}

/** Tells what the layers of the output lack of what was written. */
export function tellDifferences(
  found: readonly WrittenLayer[],
  layers: readonly TargetLayer[],
  features: readonly number[],
  { label }: DriverFacts,
  context: WriteContext,
): void {
  layers.forEach((layer, n) => {
    const sameName = found.find(({ name }) => name.toLowerCase() === layer.name.toLowerCase());
    const written = sameName ?? (found.length === layers.length ? found[n] : undefined);
    if (!written) return;
    tellCrs(layer.crs, written.wkt, label, context);
    if (features[n]! > 0) tellFields(layer, written, label, context);
    const lacking = features[n]! - written.features;
    if (lacking > 0) {
      const example = `of ${features[n]} features of "${layer.name}" ${written.features} are in the file`;
      context.lose("features-dropped", undefined, example, lacking);
    }
  });
}
