import type { FieldType } from "../../model/field.js";
import type { ReadBack, TargetLayer, WriterCapabilities } from "../../plugin/format.js";

/** What counts as equal in a verification of one layer. Plain data. */
export interface ProofRules {
  /** Decimals of x and y, and of heights; null compares them exactly. */
  readonly decimals: { readonly xy: number | null; readonly z: number | null };
  readonly types: NonNullable<ReadBack["types"]>;
  /** The written type of each field; null if the layer has no list of fields. */
  readonly writtenTypes: Readonly<Record<string, FieldType>> | null;
  /** A Polygon may come back as a MultiPolygon of one, and so on. */
  readonly singleIsMulti: boolean;
  readonly absentIsNull: boolean;
  readonly withIds: boolean;
  /** Ids are compared as texts. */
  readonly idsAsText: boolean;
  /** Fields have no names in the file. */
  readonly byPosition: boolean;
  readonly splitsMultiPoints: boolean;
  /** Whether the features come back in the order in which they were written. */
  readonly isOrdered: boolean;
  /** Fields that the reader adds. */
  readonly ignoredFields: readonly string[];
}

const exact = { xy: null, z: null };

export function proofRules(
  layer: TargetLayer,
  { decimals = exact, types = "layer", isNameless = false, ids: idForm, order, splitsMultiPoints = false }: ReadBack,
  { families, ids }: WriterCapabilities,
): ProofRules {
  const { fields, summary } = layer;
  return {
    decimals,
    types,
    writtenTypes: fields && Object.fromEntries(fields.map(({ name, type }) => [name, type])),
    singleIsMulti: families !== undefined,
    // A table has a cell for each field of each feature.
    absentIsNull: fields !== null,
    withIds: idForm !== false && (ids === true || (typeof ids === "object" && summary?.idType !== null)),
    byPosition: isNameless,
    idsAsText: idForm === "text",
    splitsMultiPoints,
    isOrdered: order !== "any",
    ignoredFields: [],
  };
}

/** Ids are numbers or texts, whichever type their column has. */
export const idRules = { types: "value", absentIsNull: true } as const;
