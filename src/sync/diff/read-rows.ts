/** From rows of a comparison to what a plan says of them. */
import {
  type FeatureRow,
  type FeatureSide,
  type KeyedRow,
  rowKey,
  type TextLocation,
} from "../../remote/snapshot/feature-side.js";
import type { Properties, RemoteKey } from "../../remote/wire.js";
import type { MapFeature, PlannedFeature } from "../plan/plan.js";

/** What the files of a workspace hold: their writers have checked it. */
interface ParsedFeature {
  readonly geometry: PlannedFeature["geometry"];
  readonly properties: Properties | null;
}

/** The feature of a text, without its id. */
export function parsePlanned(text: string): PlannedFeature {
  const { geometry, properties } = JSON.parse(text) as ParsedFeature;
  return { type: "Feature", geometry, properties: properties ?? {} };
}

/** The feature of a row, without its id. */
export const readPlanned = (side: FeatureSide, row: TextLocation): PlannedFeature => parsePlanned(side.textOf(row));

/** The feature of a row of the map. */
export function readMapFeature(side: FeatureSide, row: TextLocation & Pick<FeatureRow, "id">): MapFeature {
  const { type, geometry, properties } = readPlanned(side, row);
  return { type, id: row.id!, geometry, properties };
}

/**
 * The key of a feature that the map does not have, in the type of those it has.
 * @param numeric whether they are numbers; null where it has none, or of both types
 */
export function toMapKeyType(row: Pick<KeyedRow, "key" | "numeric">, numeric: boolean | null): RemoteKey | null {
  if (row.key === null || numeric === null) return rowKey(row);
  const number = Number(row.key);
  // "007" and "1e3" are texts, whatever the others are.
  return numeric && Number.isSafeInteger(number) && String(number) === row.key ? number : row.key;
}
