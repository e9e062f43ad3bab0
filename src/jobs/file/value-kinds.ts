/** The value types of a job file, each with its parser and its JSON schema. */

import { redactUrl } from "../../io/redact.js";
import { isBucketAddress } from "../../io/s3/bucket-address.js";
import type { FieldType } from "../../model/field.js";
import { fieldTypes } from "../../model/field.js";
import { nearestName } from "../../nearest-name.js";
import { isWebAddress } from "../../pipeline/input/expand-inputs.js";
import { type BadGeometry, badGeometryChoices } from "../../pipeline/request.js";
import { type Limit, parseLimit } from "../../sync/request.js";
import type { YamlPlace } from "./yaml-places.js";

/** JSON Schema, draft 2020-12. */
export type Schema = Readonly<Record<string, unknown>>;

export interface ValueKind<T> {
  readonly schema: Schema;
  /** @throws job-invalid */
  read(place: YamlPlace): T;
}

const kind = <T>(schema: Schema, read: (place: YamlPlace) => T): ValueKind<T> => ({ schema, read });

/** Accepts a reference to an environment variable in place of the value. */
const orReference = (schema: Schema): Schema => ({ anyOf: [schema, { type: "string", pattern: "\\$\\{" }] });

/** Accepts numbers as strings, since environment variables are strings. */
const numeric = (value: unknown): number =>
  typeof value === "number" ? value : typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;

export const text: ValueKind<string> = kind({ type: "string", minLength: 1 }, (place) => {
  const { value } = place;
  if (typeof value === "number" || typeof value === "boolean")
    throw place.error(`YAML reads ${String(value)} as a ${typeof value}; write it in quotes`);
  if (typeof value !== "string") throw place.expectedError("a string");
  if (value === "") throw place.error("is empty; check that its variable is set");
  return value;
});

/** A local path. */
export const path: ValueKind<string> = kind(text.schema, (place) => {
  const value = text.read(place);
  if (isBucketAddress(value) || isWebAddress(value))
    throw place.error(`must be a local file or folder, and ${redactUrl(value)} is an address: name a path`);
  return value;
});

export const flag: ValueKind<boolean> = kind(orReference({ type: "boolean" }), (place) => {
  const { value } = place;
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw place.expectedError("true or false");
});

export const choice = <const T extends string>(choices: readonly T[]): ValueKind<T> =>
  kind({ enum: choices }, (place) => {
    const found = choices.find((one) => one === place.value);
    if (found !== undefined) return found;
    throw place.expectedError(`one of ${choices.join(", ")}`);
  });

/** Accepts an unquoted `null`, which YAML does not read as a string. */
export const badGeometry: ValueKind<BadGeometry> = kind({ enum: [...badGeometryChoices, null] }, (place) =>
  place.value === null ? "null" : choice(badGeometryChoices).read(place),
);

export const wholeNumber = (minimum: number): ValueKind<number> =>
  kind(orReference({ type: "integer", minimum }), (place) => {
    const value = numeric(place.value);
    if (Number.isSafeInteger(value) && value >= minimum) return value;
    throw place.expectedError(`a whole number from ${minimum}`);
  });

export const positiveNumber: ValueKind<number> = kind(orReference({ type: "number", exclusiveMinimum: 0 }), (place) => {
  const value = numeric(place.value);
  if (Number.isFinite(value) && value > 0) return value;
  throw place.expectedError("a number above 0");
});

/** A string, or a list of strings. */
export const texts: ValueKind<readonly string[]> = kind(
  { anyOf: [text.schema, { type: "array", items: text.schema, minItems: 1 }] },
  (place) => {
    if (!Array.isArray(place.value)) return [text.read(place)];
    if (place.value.length === 0) throw place.error("is an empty list");
    return place.value.map((item, index) => text.read(place.at(index, item)));
  },
);

function membersOf(place: YamlPlace): [string, YamlPlace][] {
  const { value } = place;
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw place.expectedError("a mapping of names to values");
  return Object.entries(value).map(([key, item]) => [key, place.at(key, item)]);
}

/** Names with strings; numbers and booleans become strings. */
export const settings: ValueKind<Readonly<Record<string, string>>> = kind(
  { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } },
  (place) =>
    Object.fromEntries(
      membersOf(place).map(([name, member]) => {
        const { value } = member;
        return [name, typeof value === "number" || typeof value === "boolean" ? String(value) : text.read(member)];
      }),
    ),
);

export const names: ValueKind<Readonly<Record<string, string>>> = kind(
  { type: "object", additionalProperties: text.schema },
  (place) => Object.fromEntries(membersOf(place).map(([name, member]) => [name, text.read(member)])),
);

const fieldType = choice(fieldTypes);

export const casts: ValueKind<Readonly<Record<string, FieldType>>> = kind(
  { type: "object", additionalProperties: fieldType.schema },
  (place) => Object.fromEntries(membersOf(place).map(([name, member]) => [name, fieldType.read(member)])),
);

const isBox = (list: readonly number[]): list is [number, number, number, number] =>
  list.length === 4 && list.every(Number.isFinite) && list[1]! <= list[3]!;

/** [minX, minY, maxX, maxY], or a string with commas. */
export const box: ValueKind<readonly [number, number, number, number]> = kind(
  { anyOf: [text.schema, { type: "array", items: { type: "number" }, minItems: 4, maxItems: 4 }] },
  (place) => {
    const { value } = place;
    const list = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [];
    const numbers = list.map(numeric);
    if (isBox(numbers)) return numbers;
    throw place.expectedError("a list of minX, minY, maxX, maxY");
  },
);

/** `100` or `5%`. */
export const limit: ValueKind<Limit> = kind(
  {
    anyOf: [
      { type: "integer", minimum: 0 },
      { type: "string", pattern: "^\\d+(\\.\\d+)?%?$" },
    ],
  },
  (place) => {
    const found = parseLimit(String(place.value));
    if (found) return found;
    throw place.expectedError("a number like 100 or a percentage like 5%");
  },
);

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds. Timers of Node.js fire at once for more than 2³¹ − 1. */
export const maxDurationMs = 2_147_483_647;

/** Milliseconds, from `500ms`, `30s`, `5m`, `2h`, or a number of seconds. */
export const duration: ValueKind<number> = kind(
  {
    anyOf: [
      { type: "number", minimum: 0 },
      { type: "string", pattern: "^\\d+(\\.\\d+)?(ms|s|m|h|d)?$" },
    ],
  },
  (place) => {
    const [, digits, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(String(place.value).trim()) ?? [];
    if (digits === undefined) throw place.expectedError("a time like 30s, 5m or 2h");
    const milliseconds = Math.round(Number(digits) * units[unit]!);
    if (milliseconds <= maxDurationMs) return milliseconds;
    throw place.expectedError("a time of at most 24d");
  },
);

export interface MemberSpec<T> {
  readonly kind: ValueKind<T>;
  readonly describe: string;
  readonly required?: true;
}

export const member = <T>(of: ValueKind<T>, describe: string): MemberSpec<T> => ({ kind: of, describe });
export const required = <T>(of: ValueKind<T>, describe: string): MemberSpec<T> & { required: true } => ({
  kind: of,
  describe,
  required: true,
});

type Members = Readonly<Record<string, MemberSpec<unknown>>>;
type ValueOf<M> = M extends MemberSpec<infer T> ? T : never;

/** The parsed object; absent members are undefined. */
export type Read<M extends Members> = {
  readonly [K in keyof M]: M[K] extends { required: true } ? ValueOf<M[K]> : ValueOf<M[K]> | undefined;
};

/** @param noun of the object, for messages: "a step" */
export function objectKind<M extends Members>(noun: string, members: M): ValueKind<Read<M>> {
  const entries = Object.entries(members);
  const schema = {
    type: "object",
    properties: Object.fromEntries(
      entries.map(([name, { kind, describe }]) => [name, { ...kind.schema, description: describe }]),
    ),
    required: entries.filter(([, { required }]) => required).map(([name]) => name),
    additionalProperties: false,
  };
  return kind(schema, (place) => {
    const given = new Map(membersOf(place));
    for (const name of given.keys())
      if (!Object.hasOwn(members, name)) throw place.unknownKeyError(name, unknownMemberError(noun, name, members));
    const read = entries.map(([name, { kind, required }]) => {
      const found = given.get(name);
      if (found !== undefined) return [name, kind.read(found)];
      if (required) throw place.error(`${noun} needs "${name}"`);
      return [name, undefined];
    });
    return Object.fromEntries(read) as Read<M>;
  });
}

function unknownMemberError(noun: string, name: string, members: Members): string {
  const known = Object.keys(members);
  const nearest = nearestName(name, known);
  return nearest === null
    ? `${noun} has no "${name}"; it has ${known.join(", ")}`
    : `${noun} has no "${name}"; did you mean "${nearest}"?`;
}

export const listOf = <T>(of: ValueKind<T>, noun: string): ValueKind<readonly T[]> =>
  kind({ type: "array", items: of.schema, minItems: 1 }, (place) => {
    if (!Array.isArray(place.value) || place.value.length === 0) throw place.expectedError(noun);
    return place.value.map((item, index) => of.read(place.at(index, item)));
  });

/** Parses objects with one kind and other values with another. */
export const textOr = <A, B>(ofText: ValueKind<A>, other: ValueKind<B>): ValueKind<A | B> =>
  kind({ anyOf: [ofText.schema, other.schema] }, (place) =>
    typeof place.value === "object" && place.value !== null ? other.read(place) : ofText.read(place),
  );

/** A value with its position in the file. */
export const placed = <T>(of: ValueKind<T>): ValueKind<{ readonly value: T; readonly place: YamlPlace }> =>
  kind(of.schema, (place) => ({ value: of.read(place), place }));
