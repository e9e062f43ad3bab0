import { temporalType } from "../../model/layer-summary.js";
import type { Properties } from "../../remote/wire.js";
import { isInvalidKey, isUuid, parseKey } from "../keys/key-value.js";

/** Statistics of a property's values, as needed to judge whether it identifies features. */
export interface FieldStats {
  readonly name: string;
  /** Number of features with a value. */
  readonly values: number;
  /** Number of features without a value: null or missing. */
  readonly nulls: number;
  /** Texts of only whitespace. */
  readonly emptyTexts: number;
  readonly texts: number;
  /** Safe integers. */
  readonly integers: number;
  /** Integers beyond the exact range of a double. */
  readonly unsafeIntegers: number;
  /** Booleans, nested values and fractional numbers. */
  readonly otherValues: number;
  /** Texts that are UUIDs. */
  readonly uuids: number;
  /** Whether every text is a date, a time or both (ISO 8601). */
  readonly isTemporal: boolean;
  /** UTF-16 code units of the longest key. */
  readonly maxLength: number;
  /** Whether a value occurred twice among the first features, so that it identifies none. */
  readonly hasDuplicates: boolean;
}

/** Number of first features checked for duplicates in memory: most attributes have one there. */
const maxFeaturesWithDuplicateCheck = 2000;
/** Limits memory for sources that use data as property names. */
const maxFields = 4096;

type FieldState = { -readonly [K in keyof Omit<FieldStats, "nulls">]: FieldStats[K] } & {
  seenValues: Set<string> | null;
};

const createFieldState = (name: string): FieldState => ({
  name,
  values: 0,
  emptyTexts: 0,
  texts: 0,
  integers: 0,
  unsafeIntegers: 0,
  otherValues: 0,
  uuids: 0,
  isTemporal: true,
  maxLength: 0,
  hasDuplicates: false,
  seenValues: new Set(),
});

/** Collects statistics from the properties of features. */
export class FieldStatsCollector {
  private readonly fields = new Map<string, FieldState>();
  private features = 0;

  add(properties: Properties): void {
    this.features++;
    for (const name in properties) {
      const value = properties[name];
      if (value === null) {
        this.getOrCreateState(name);
        continue;
      }
      const state = this.getOrCreateState(name);
      if (state) countValue(state, value, this.features <= maxFeaturesWithDuplicateCheck);
    }
  }

  /** In order of first occurrence. */
  get stats(): FieldStats[] {
    return [...this.fields.values()].map(({ seenValues: _, ...state }) => ({
      ...state,
      nulls: this.features - state.values,
      isTemporal: state.isTemporal && state.texts > 0,
    }));
  }

  private getOrCreateState(name: string): FieldState | undefined {
    const existing = this.fields.get(name);
    if (existing || this.fields.size >= maxFields) return existing;
    const state = createFieldState(name);
    this.fields.set(name, state);
    return state;
  }
}

function countValue(state: FieldState, value: unknown, checkDuplicates: boolean): void {
  state.values++;
  const key = parseKey(value);
  if (isInvalidKey(key)) {
    if (key.reason === "empty") state.emptyTexts++;
    else if (key.reason === "unsafe") state.unsafeIntegers++;
    else state.otherValues++;
    state.seenValues = null;
    return;
  }
  const text = String(key);
  if (typeof key === "number") state.integers++;
  else {
    state.texts++;
    if (isUuid(text)) state.uuids++;
    if (state.isTemporal) state.isTemporal = temporalType(text) !== null;
  }
  if (text.length > state.maxLength) state.maxLength = text.length;
  if (!checkDuplicates || state.seenValues === null) {
    state.seenValues = null;
  } else if (state.seenValues.has(text)) {
    state.hasDuplicates = true;
    state.seenValues = null;
  } else state.seenValues.add(text);
}
