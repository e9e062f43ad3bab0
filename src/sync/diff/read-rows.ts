/** Converts comparison rows to features of a plan. */
import {
  type FeatureRow,
  type FeatureSide,
  type KeyedRow,
  rowKey,
  type TextLocation,
} from "../../compare/feature-side.js";
import { parseExactFeature } from "../../remote/exact-properties.js";
import type { Properties, RemoteKey } from "../../remote/wire.js";
import type { MapFeature, PlannedFeature } from "../plan/plan.js";

/** Content of workspace files, which their writers have validated. */
interface ParsedFeature {
  readonly geometry: PlannedFeature["geometry"];
  readonly properties: Properties | null;
}

/** Parses a feature, without its id. */
export function parsePlanned(text: string): PlannedFeature {
  const { geometry, properties } = parseExactFeature(text) as ParsedFeature;
  return { type: "Feature", geometry, properties: properties ?? {} };
}

/** Reads the feature of a row, without its id. */
export const readPlanned = (side: FeatureSide, row: TextLocation): PlannedFeature => parsePlanned(side.textOf(row));

/** Reads the feature of a map row. */
export function readMapFeature(side: FeatureSide, row: TextLocation & Pick<FeatureRow, "id">): MapFeature {
  const { type, geometry, properties } = readPlanned(side, row);
  return { type, id: row.id!, geometry, properties };
}

/**
 * Converts the key of a feature that the map lacks to the type of the map's keys.
 * @param numeric whether the map's keys are numbers; null if it has none or both types
 */
export function toMapKeyType(row: Pick<KeyedRow, "key" | "numeric">, numeric: boolean | null): RemoteKey | null {
  if (row.key === null || numeric === null) return rowKey(row);
  const number = Number(row.key);
  // "007" and "1e3" stay texts even if other keys are numbers.
  return numeric && Number.isSafeInteger(number) && String(number) === row.key ? number : row.key;
}
