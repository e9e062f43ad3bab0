/** The kinds of values that a job file has: how each is read, and what an editor is told of it. */

import { redactUrl } from "../../io/redact.js";
import { isBucketAddress } from "../../io/s3/bucket-address.js";
import type { FieldType } from "../../model/field.js";
import { fieldTypes } from "../../model/field.js";
import { nearestName } from "../../nearest-name.js";
import { isWebAddress } from "../../pipeline/input/expand-inputs.js";
import { type BadGeometry, badGeometryChoices } from "../../pipeline/request.js";
import { type Limit, parseLimit } from "../../sync/request.js";
import type { YamlPlace } from "./yaml-places.js";

/** JSON Schema, draft 2020-12, as far as it is used here. */
export type Schema = Readonly<Record<string, unknown>>;

export interface ValueKind<T> {
  readonly schema: Schema;
  /** @throws job-invalid */
  read(place: YamlPlace): T;
}

const kind = <T>(schema: Schema, read: (place: YamlPlace) => T): ValueKind<T> => ({ schema, read });

/** What is not a text may come from a variable of the environment. */
const orReference = (schema: Schema): Schema => ({ anyOf: [schema, { type: "string", pattern: "\\$\\{" }] });

/** Numbers may come as text, from variables of the environment. */
const numeric = (value: unknown): number =>
  typeof value === "number" ? value : typeof value === "string" && value.trim() !== "" ? Number(value) : Number.NaN;

export const text: ValueKind<string> = kind({ type: "string", minLength: 1 }, (place) => {
  const { value } = place;
  if (typeof value === "number" || typeof value === "boolean")
    throw place.error(`${String(value)} would be read as a ${typeof value}; write it in quotes`);
  if (typeof value !== "string") throw place.expectedError("a text");
  if (value === "") throw place.error("is empty; is a variable not set?");
  return value;
});

/** A path of this machine. */
export const path: ValueKind<string> = kind(text.schema, (place) => {
  const said = text.read(place);
  if (isBucketAddress(said) || isWebAddress(said))
    throw place.error(`is a file or folder of this machine, and ${redactUrl(said)} is an address: name a path`);
  return said;
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

/** `null` needs no quotes, which YAML reads as no text. */
export const badGeometry: ValueKind<BadGeometry> = kind({ enum: [...badGeometryChoices, null] }, (place) =>
  place.value === null ? "null" : choice(badGeometryChoices).read(place),
);

export const wholeNumber = (least: number): ValueKind<number> =>
  kind(orReference({ type: "integer", minimum: least }), (place) => {
    const value = numeric(place.value);
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw place.expectedError(`a whole number from ${least}`);
  });

export const positiveNumber: ValueKind<number> = kind(orReference({ type: "number", exclusiveMinimum: 0 }), (place) => {
  const value = numeric(place.value);
  if (Number.isFinite(value) && value > 0) return value;
  throw place.expectedError("a number above 0");
});

/** A text, or a list of texts. */
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
    throw place.expectedError("a list of names with values");
  return Object.entries(value).map(([key, item]) => [key, place.at(key, item)]);
}

/** Names with texts; numbers and flags count as their text. */
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

/** [least x, least y, greatest x, greatest y], or a text with commas. */
export const box: ValueKind<readonly [number, number, number, number]> = kind(
  { anyOf: [text.schema, { type: "array", items: { type: "number" }, minItems: 4, maxItems: 4 }] },
  (place) => {
    const { value } = place;
    const list = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [];
    const numbers = list.map(numeric);
    if (isBox(numbers)) return numbers;
    throw place.expectedError("a list of least x, least y, greatest x, greatest y");
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
    throw place.expectedError("a number like 100 or a share like 5%");
  },
);

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds: timers of Node.js hold no more (2³¹ − 1), and go off at once instead. */
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

/** A member of an object. */
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

/** What an object of these members is read as; what is not given is undefined. */
export type Read<M extends Members> = {
  readonly [K in keyof M]: M[K] extends { required: true } ? ValueOf<M[K]> : ValueOf<M[K]> | undefined;
};

/** @param called what it is, for messages: "a step" */
export function objectKind<M extends Members>(called: string, members: M): ValueKind<Read<M>> {
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
      if (!Object.hasOwn(members, name)) throw place.unknownKeyError(name, unknownMemberError(called, name, members));
    const read = entries.map(([name, { kind, required }]) => {
      const found = given.get(name);
      if (found !== undefined) return [name, kind.read(found)];
      if (required) throw place.error(`${called} needs "${name}"`);
      return [name, undefined];
    });
    return Object.fromEntries(read) as Read<M>;
  });
}

function unknownMemberError(called: string, name: string, members: Members): string {
  const known = Object.keys(members);
  const nearest = nearestName(name, known);
  return nearest === null
    ? `${called} has no "${name}"; it has ${known.join(", ")}`
    : `${called} has no "${name}"; did you mean "${nearest}"?`;
}

export const listOf = <T>(of: ValueKind<T>, called: string): ValueKind<readonly T[]> =>
  kind({ type: "array", items: of.schema, minItems: 1 }, (place) => {
    if (!Array.isArray(place.value) || place.value.length === 0) throw place.expectedError(called);
    return place.value.map((item, index) => of.read(place.at(index, item)));
  });

/** One kind where a value is a text, another where it is not. */
export const textOr = <A, B>(ofText: ValueKind<A>, other: ValueKind<B>): ValueKind<A | B> =>
  kind({ anyOf: [ofText.schema, other.schema] }, (place) =>
    typeof place.value === "object" && place.value !== null ? other.read(place) : ofText.read(place),
  );

/** A value with the line where it stands. */
export const placed = <T>(of: ValueKind<T>): ValueKind<{ readonly value: T; readonly place: YamlPlace }> =>
  kind(of.schema, (place) => ({ value: of.read(place), place }));
