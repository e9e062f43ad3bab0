import { temporalType } from "../../model/layer-summary.js";
import type { Properties } from "../../remote/wire.js";
import { isInvalidKey, isUuid, parseKey } from "../keys/key-value.js";

/** What all values of a property say together, as far as it matters for who identifies a feature. */
export interface FieldStats {
  readonly name: string;
  /** Features that have a value of it. */
  readonly values: number;
  /** Features without one: null, or not there. */
  readonly nulls: number;
  /** Texts of nothing but white space. */
  readonly emptyTexts: number;
  readonly texts: number;
  /** Safe ones. */
  readonly integers: number;
  /** Integers beyond what a double holds exactly. */
  readonly unsafeIntegers: number;
  /** Booleans, nested values, numbers with a fraction. */
  readonly otherValues: number;
  /** Texts that are UUIDs. */
  readonly uuids: number;
  /** Every text is a date, a time or both (ISO 8601). */
  readonly isTemporal: boolean;
  /** UTF-16 code units of the longest key. */
  readonly maxLength: number;
  /** A value came twice among the first features: it identifies none. */
  readonly hasDuplicates: boolean;
}

/** Among so many features a repeated value is looked for in memory: most attributes have one there. */
const maxFeaturesWithDuplicateCheck = 2000;
/** Sources whose names of properties are data have no end of them. */
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

/** Looks at the properties of features, one after another. */
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

  /** In the order in which the names were met. */
  get stats(): FieldStats[] {
    return [...this.fields.values()].map(({ seenValues: _, ...state }) => ({
      ...state,
      nulls: this.features - state.values,
      isTemporal: state.isTemporal && state.texts > 0,
    }));
  }

  private getOrCreateState(name: string): FieldState | undefined {
    const known = this.fields.get(name);
    if (known || this.fields.size >= maxFields) return known;
    const state = createFieldState(name);
    this.fields.set(name, state);
    return state;
  }
}

function countValue(state: FieldState, value: unknown, watch: boolean): void {
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
  if (!watch || state.seenValues === null) {
    state.seenValues = null;
  } else if (state.seenValues.has(text)) {
    state.hasDuplicates = true;
    state.seenValues = null;
  } else state.seenValues.add(text);
}
