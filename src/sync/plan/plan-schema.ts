/**
 * Schemas of plan lines. Another program may have written the plan, so its lines are validated before anything is sent.
 */
import { type TSchema, Type } from "typebox";
import { syncModes } from "../request.js";
import { planVersion } from "./plan.js";

const count = Type.Integer({ minimum: 0 });
const text = Type.String();
const name = Type.String({ minLength: 1 });
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const oneOf = <T extends string>(values: readonly T[]) => Type.Union(values.map((value) => Type.Literal(value)));
const key = Type.Union([name, Type.Integer()]);
const digest = Type.String({ pattern: "^[0-9a-f]{32}$" });
const sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });

const limit = Type.Object({ text, count: Type.Union([count, Type.Null()]), share: Type.Number({ minimum: 0 }) });
const settings = Type.Object({
  scope: orNull(Type.Object({ property: name, value: text })),
  precision: Type.Integer({ minimum: 0, maximum: 15 }),
  replaceProperties: Type.Boolean(),
  unmanaged: oneOf(["refuse", "keep", "delete"]),
  updateWith: oneOf(["patch", "delete-create"]),
  settleTime: Type.Number({ minimum: 0 }),
  singleRead: Type.Boolean(),
  guards: Type.Object({
    maxDelete: orNull(limit),
    maxUpdate: orNull(limit),
    allowNullGeometry: Type.Boolean(),
    allowEmpty: Type.Boolean(),
  }),
});

export const HeaderSchema = Type.Object({
  type: Type.Literal("plan"),
  version: Type.Literal(planVersion),
  service: name,
  map: name,
  mode: oneOf([...syncModes, "delete"]),
  key: orNull(
    Type.Union([Type.Object({ by: Type.Literal("id") }), Type.Object({ by: Type.Literal("property"), name })]),
  ),
  settings,
  source: Type.Object({
    inputs: Type.Array(text),
    fingerprint: text,
    features: count,
    complete: Type.Boolean(),
    rejected: count,
    unidentified: count,
    gaps: count,
    files: Type.Array(Type.Object({ path: name, size: count, sha256 })),
  }),
  snapshot: Type.Object({ etag: orNull(text), fingerprint: text, features: count }),
});

/** `isGeometry` checks geometries, with shorter messages for nested arrays. */
const featureSchema = Type.Object({
  type: Type.Literal("Feature"),
  id: Type.Optional(name),
  geometry: orNull(Type.Object({ type: name })),
  properties: Type.Object({}),
});
const mapFeatureSchema = Type.Intersect([featureSchema, Type.Object({ id: name })]);
const agreementSchema = Type.Object({ name, sent: digest, keepsMapProperties: Type.Optional(Type.Literal(true)) });

/** By the value of `action`. */
export const actionSchemas = {
  create: Type.Object({ key: orNull(key), feature: featureSchema, agreement: orNull(agreementSchema) }),
  update: Type.Object({
    id: name,
    key: orNull(key),
    page: count,
    changed: Type.Array(name, { minItems: 1 }),
    before: mapFeatureSchema,
    feature: featureSchema,
    agreement: agreementSchema,
  }),
  delete: Type.Object({
    id: name,
    key: orNull(key),
    before: mapFeatureSchema,
    stays: Type.Optional(Type.Object({ id: name, digest, exact: orNull(digest), other: orNull(digest) })),
  }),
  keep: Type.Object({
    why: oneOf(["same", "unmanaged", "protected", "only-on-map"]),
    id: name,
    key: orNull(key),
    feature: Type.Optional(featureSchema),
    agreement: Type.Optional(Type.Intersect([agreementSchema, Type.Object({ held: digest })])),
    equalsChanged: Type.Optional(Type.Literal(true)),
  }),
};

export const EndSchema = Type.Object({
  type: Type.Literal("end"),
  put: Type.Boolean(),
  sha256,
  counts: Type.Object({
    create: count,
    update: count,
    delete: count,
    same: count,
    unmanaged: count,
    protected: count,
    onlyOnMap: count,
    geometryLost: count,
  }),
});
