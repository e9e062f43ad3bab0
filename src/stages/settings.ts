import { createError } from "../errors.js";
import { type FieldType, fieldTypes } from "../model/field.js";

/** The settings of a stage as its spec carries them: plain data, checked once when the stage is built. */
export type StageSettings = Readonly<Record<string, unknown>>;

const invalidSettingError = (name: string, value: unknown, expected: string) =>
  createError("option-invalid", { option: name, value: JSON.stringify(value) ?? String(value), expected });

export function textSetting(settings: StageSettings, name: string): string {
  const value = settings[name];
  if (typeof value !== "string") throw invalidSettingError(name, value, "text");
  return value;
}

export function booleanSetting(settings: StageSettings, name: string): boolean {
  const value = settings[name];
  if (value === undefined) return false;
  if (typeof value !== "boolean") throw invalidSettingError(name, value, "true or false");
  return value;
}

export function countSetting(settings: StageSettings, name: string): number {
  const value = settings[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw invalidSettingError(name, value, "a whole number from 0");
  }
  return value;
}

export function choiceSetting<C extends string>(settings: StageSettings, name: string, choices: readonly C[]): C {
  const value = settings[name];
  const choice = choices.find((known) => known === value);
  if (choice === undefined) throw invalidSettingError(name, value, `one of ${choices.join(", ")}`);
  return choice;
}

export function listSetting(settings: StageSettings, name: string): string[] {
  const value = settings[name];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw invalidSettingError(name, value, "a list of names");
  }
  return [...value];
}

/** A record or a Map of texts, as a Map: a field may be named `__proto__`. */
export function mapSetting(settings: StageSettings, name: string): Map<string, string> {
  const value = settings[name];
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const entries: [unknown, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
    if (entries.every((entry): entry is [string, string] => entry.every((item) => typeof item === "string"))) {
      return new Map(entries);
    }
  }
  throw invalidSettingError(name, value, "names with a text each");
}

export function fieldTypeMapSetting(settings: StageSettings, name: string): Map<string, FieldType> {
  const types = new Map<string, FieldType>();
  for (const [field, written] of mapSetting(settings, name)) {
    const type = fieldTypes.find((known) => known === written);
    if (!type) throw invalidSettingError(`${name} ${field}`, written, `one of ${fieldTypes.join(", ")}`);
    types.set(field, type);
  }
  return types;
}

/** Four finite numbers: west, south, east, north; west beyond east spans the antimeridian. */
export function boxSetting(settings: StageSettings, name: string): [number, number, number, number] {
  const value = settings[name];
  if (Array.isArray(value) && value.length === 4 && value.every((item) => Number.isFinite(item))) {
    const [minX, minY, maxX, maxY] = value as [number, number, number, number];
    if (minY <= maxY) return [minX, minY, maxX, maxY];
  }
  throw invalidSettingError(name, value, "four numbers: west, south, east, north");
}
