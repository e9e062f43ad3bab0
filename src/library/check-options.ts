/** Options of the library by name and type, for programs that no compiler has checked: nothing is ignored. */
import { fault } from "../errors.js";
import type { ConvertRequest } from "../pipeline/request.js";

interface Kind {
  readonly expected: string;
  readonly fits: (value: unknown) => boolean;
}

const isText = (value: unknown): boolean => typeof value === "string";
const isMembers = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isText);
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);

const text: Kind = { expected: "a text", fits: isText };
const flag: Kind = { expected: "true or false", fits: (value) => typeof value === "boolean" };
const positive: Kind = { expected: "a number above 0", fits: (value) => isNumber(value) && (value as number) > 0 };
const count: Kind = {
  expected: "a whole number from 0 on",
  fits: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
};
const texts: Kind = { expected: "an array of texts", fits: (value) => Array.isArray(value) && value.every(isText) };
const members: Kind = { expected: "an object whose members are texts", fits: isMembers };
const box: Kind = {
  expected: "an array of four numbers",
  fits: (value) => Array.isArray(value) && value.length === 4 && value.every(isNumber),
};

/** All but where features come from and go to. The compiler holds it against the request. */
const kinds: Readonly<Record<Exclude<keyof ConvertRequest, "inputs" | "output">, Kind>> = {
  from: text,
  to: text,
  layers: texts,
  layerName: text,
  sourceCrs: text,
  targetCrs: text,
  reproject: flag,
  accuracy: positive,
  grids: texts,
  select: texts,
  rename: members,
  cast: members,
  where: text,
  bbox: box,
  limit: count,
  geometryType: text,
  makeValid: flag,
  swapXy: flag,
  readerOptions: members,
  writerOptions: members,
  rejects: text,
  maxRejects: text,
  onBadGeometry: text,
  maxLosses: text,
  maxWithoutGeometry: text,
  strict: flag,
  skipErrors: flag,
  append: flag,
  overwrite: flag,
  replaceLayer: flag,
  onNameClash: text,
  update: flag,
  allowEmpty: flag,
  workers: count,
  maxInputBytes: count,
};

/**
 * @param caller whose options they are, for messages: "convert"
 * @param others names of options that are not of a conversion
 * @throws option-unknown, option-invalid
 */
export function checkOptions(caller: string, options: object, others: readonly string[]): void {
  for (const [name, value] of Object.entries(options)) {
    if (others.includes(name)) continue;
    if (!Object.hasOwn(kinds, name)) {
      const known = [...others, ...Object.keys(kinds)].sort();
      throw fault("option-unknown", { option: name, format: caller, known });
    }
    const { expected, fits } = kinds[name as keyof typeof kinds];
    if (value === undefined || fits(value)) continue;
    throw fault("option-invalid", { option: name, value: JSON.stringify(value) ?? String(value), expected });
  }
}
