import { type Area, enclosingArea } from "../area.js";
import { adviseAccuracy, padArea, selectInArea } from "./accuracy-advice.js";
import { strictAccuracyLimit } from "./accuracy-limits.js";
import { type DatumTransformation, isAccurateEnough, isNullTransformation } from "./datum-transformations.js";
import { adviseGrids, type BetterOperation, selectBetterInArea } from "./missing-grids.js";
import type { Operation } from "./operation.js";

/** The positions that one transformation of an operation transformed. */
export interface TransformationUse {
  /** Index into the transformations of the operation; null for positions without a transformation. */
  readonly transformationIndex: number | null;
  readonly positionCount: number;
  /** Bounding box of the positions, in degrees of the source. */
  readonly box: Area;
}

/** A note of a report. */
export interface OperationNote {
  readonly code: "crs-operation" | "crs-accuracy" | "crs-unreached";
  readonly count: number;
  readonly text: string;
}

const formatAccuracy = (accuracy: number | null): string =>
  accuracy === null ? "of unknown accuracy" : `accurate to ${accuracy} m`;

/** The worst accuracy in metres; null if one is unknown. */
export const worstAccuracy = (transformations: readonly DatumTransformation[]): number | null =>
  transformations.some(({ accuracy }) => accuracy === null)
    ? null
    : Math.max(...transformations.map(({ accuracy }) => accuracy!));

/** Warnings about certain operations, by code. */
const operationWarnings: readonly (readonly [code: RegExp, caution: string])[] = [
  [
    /-XK$/,
    "EPSG's own operation for Kosovo (EPSG:9143, said to be accurate to 1 m) lies 1.6 km from those of all its neighbors and is not used: compare the result with a place that you know",
  ],
];

const warningsFor = (transformations: readonly DatumTransformation[]): string[] =>
  operationWarnings
    .filter(([code]) =>
      transformations.some(({ steps }) => steps.some((step) => step.code !== null && code.test(step.code))),
    )
    .map(([, caution]) => caution);

/** The transformations that may be used. */
export const usableTransformations = ({ transformations, accuracyLimit }: Operation): DatumTransformation[] =>
  transformations.filter((transformation) => isAccurateEnough(transformation, accuracyLimit));

/**
 * The notes of a report about an operation: the used transformations and their accuracy; each one worse than 5 m, with a
 * grid that would be better for these positions; and positions without a transformation.
 * @param uses the counted positions; if empty, all usable transformations are listed
 */
export function operationNotes(operation: Operation, uses: readonly TransformationUse[]): OperationNote[] {
  const { kind, remarks } = operation;
  const found: OperationNote[] = [];
  const taken = usedTransformations(operation, uses);
  const isUsed = taken.length > 0 || uses.length === 0;
  // A single transformation that exceeds the strict limit has a note of its own.
  const isStated = taken.length === 1 && exceedsStrictLimit(taken[0]!) && !operation.ignoresArea;
  const text = [
    ...(kind === "transformation" && isUsed && !isStated ? [describeOperation(operation, uses)] : []),
    ...remarks,
    ...warningsFor(taken),
  ];
  if (text.length > 0) found.push({ code: "crs-operation", count: 1, text: text.join("; ") });
  if (kind === "transformation") found.push(...accuracyNotes(operation, uses), ...coverageNotes(operation, uses));
  return found;
}

/** The accuracy of an operation after use. */
export interface OperationSummary {
  readonly name: string;
  /** Metres: the worst accuracy of the used transformations; null if one is unknown. */
  readonly accuracy: number | null;
  /** Operations with missing grids that would be better for these positions. */
  readonly better: readonly BetterOperation[];
}

export function summarizeUse(operation: Operation, uses: readonly TransformationUse[]): OperationSummary {
  const used = usedTransformations(operation, uses);
  const [first] = used;
  if (first === undefined) {
    const { name, accuracy, better } = operation;
    return { name, accuracy, better };
  }
  const name = used.length === 1 ? first.name : `${first.name} and ${used.length - 1} more, by area`;
  return { name, accuracy: worstAccuracy(used), better: findBetterForUses(operation, used, uses) };
}

const usedTransformations = (
  { transformations }: Operation,
  uses: readonly TransformationUse[],
): DatumTransformation[] =>
  uses.flatMap(({ transformationIndex }) =>
    transformationIndex === null ? [] : transformations[transformationIndex]!,
  );

/** "NAD27 to WGS 84 (33) and 2 more, by area: accurate to 5 m; --grid …" */
function describeOperation(operation: Operation, uses: readonly TransformationUse[]): string {
  const { name, accuracy, better } = summarizeUse(operation, uses);
  const taken = usedTransformations(operation, uses);
  const said = [accuracy === null ? "its accuracy is unknown" : formatAccuracy(accuracy)];
  if ((taken.length > 0 ? taken : usableTransformations(operation)).every(isNullTransformation))
    said.push("both datums are assumed to be the same");
  // Less accurate ones have notes of their own with their grids.
  if (!taken.some(exceedsStrictLimit)) said.push(...adviseGrids(better));
  return `${name}: ${said.join("; ")}`;
}

const exceedsStrictLimit = ({ accuracy }: DatumTransformation): boolean =>
  accuracy === null || accuracy > strictAccuracyLimit;

/** Operations with missing grids that would be better for these positions. */
function findBetterForUses(
  { better }: Operation,
  used: readonly DatumTransformation[],
  uses: readonly TransformationUse[],
) {
  const boxes = uses.filter(({ transformationIndex }) => transformationIndex !== null).map(({ box }) => box);
  return boxes.length === 0 ? better : selectBetterInArea(better, used, padArea(enclosingArea(boxes)));
}

function accuracyNotes(operation: Operation, uses: readonly TransformationUse[]): OperationNote[] {
  const { transformations, ignoresArea } = operation;
  const counted = uses.flatMap((use) =>
    use.transformationIndex === null ? [] : [{ transformation: transformations[use.transformationIndex]!, use }],
  );
  const isUncounted = ignoresArea && counted.length === 0;
  const all = isUncounted ? transformations.map((transformation) => ({ transformation, use: null })) : counted;
  return all
    .filter(({ transformation }) => exceedsStrictLimit(transformation))
    .map(({ transformation, use }) => {
      const better = adviseGrids(findBetterForUses(operation, [transformation], use === null ? [] : [use]));
      const text = [
        `positions are transformed by ${transformation.name}, which is ${formatAccuracy(transformation.accuracy)}`,
        ...better,
      ].join("; ");
      return { code: "crs-accuracy", count: use?.positionCount ?? 1, text };
    });
}

function coverageNotes(operation: Operation, uses: readonly TransformationUse[]): OperationNote[] {
  return uses
    .filter(({ transformationIndex }) => transformationIndex === null)
    .map(({ positionCount, box }) => {
      const { reason, advice } = explainUnserved(operation, box);
      const text = [`positions at ${formatArea(box)} cannot be transformed: ${reason}`, ...advice].join("; ");
      return { code: "crs-unreached", count: positionCount, text };
    });
}

/** Why positions cannot be transformed, with advice. */
function explainUnserved(
  operation: Operation,
  box: Area,
): { reason: string; advice: string[]; isForAccuracy: boolean } {
  const { transformations, accuracyLimit, better } = operation;
  const area = padArea(box);
  const { rejected } = selectInArea(transformations, area, accuracyLimit);
  const grids = selectBetterInArea(better, usableTransformations(operation), area, accuracyLimit);
  const advice = [...adviseAccuracy(rejected), ...adviseGrids(grids)];
  const known = rejected.length > 0 ? `accurate to ${accuracyLimit} m ` : "";
  return { reason: `no operation ${known}is known there`, advice, isForAccuracy: rejected.length > 0 };
}

/**
 * Explains, with advice, why all positions were refused because of the requested accuracy. Null if some were transformed,
 * or if accuracy was not the reason.
 */
export function explainRefusal(operation: Operation, uses: readonly TransformationUse[]): string | null {
  const [first] = uses;
  if (first === undefined || uses.some(({ transformationIndex }) => transformationIndex !== null)) return null;
  const { reason, advice, isForAccuracy } = explainUnserved(operation, first.box);
  return isForAccuracy ? [`the data lie at ${formatArea(first.box)}, and ${reason}`, ...advice].join("; ") : null;
}

/** "longitude -84.32° to -75.46°, latitude 33.88° to 36.59°" */
export function formatArea([west, south, east, north]: Area): string {
  const rounded = (value: number) => Number(value.toFixed(2));
  return `longitude ${rounded(west)}° to ${rounded(east)}°, latitude ${rounded(south)}° to ${rounded(north)}°`;
}
