import type { StyleProperties } from "./style-reader.js";

/** What a tag or a text of a feature does, where nothing else than the tags around it tells: for stencils. */
export interface FeatureSlotAction {
  readonly does: number;
  /** The element and the one around it. */
  readonly code: number;
  readonly parent: number;
  /** The field, or the Schema, or the id of a style. */
  readonly name: string;
  readonly style: StyleProperties | null;
}

export const FeatureSlotKind = {
  /** Is the feature's id. */
  id: 0,
  /** Is the value of a field: of data, or of an element, which says nothing where it is empty. */
  data: 1,
  text: 2,
  /** Is a word. */
  word: 3,
  coordinates: 4,
  /** Data that follow are by this Schema, or by none. */
  schema: 5,
  noSchema: 6,
  /** Begins a geometry of the feature itself, or something within one, or ends it. */
  geometry: 7,
  child: 8,
  end: 9,
  timespan: 10,
  endTimespan: 11,
  style: 12,
  /** Nothing is kept of it. */
  leftOut: 13,
} as const;

export function createSlotAction(
  does: number,
  code = 0,
  parent = 0,
  name = "",
  style: StyleProperties | null = null,
): FeatureSlotAction {
  return { does, code, parent, name, style };
}
