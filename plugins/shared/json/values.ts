/** Checks of parsed JSON. */

export type Json = { readonly [name: string]: unknown };

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
export const integerOf = (value: unknown): number | null => (Number.isSafeInteger(value) ? (value as number) : null);
export const objectsOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
