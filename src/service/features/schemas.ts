/**
 * JSON Schemas of requests and responses (Map Features Service Interface, 2), used for validation and in /openapi.json.
 * Features are validated individually by `validate-feature.ts`, which reports the path of an error; a test compares it
 * with these schemas.
 */
import { type TSchema, Type } from "typebox";
import { maxFeaturesPerRequest, pageSize } from "../../remote/wire.js";

const textSchema = { description: "Unicode string without U+0000 and lone surrogates" };

export const IdSchema = Type.String({ format: "uuid", description: "UUID, assigned by the service" });

const position = Type.Unsafe<number[]>({
  type: "array",
  title: "Position",
  description: "Longitude and latitude in degrees (WGS 84), and height in metres (RFC 7946, 3.1.1)",
  prefixItems: [
    { type: "number", minimum: -180, maximum: 180 },
    { type: "number", minimum: -90, maximum: 90 },
    { type: "number" },
  ],
  items: false,
  minItems: 2,
  maxItems: 3,
});
const emptyArray = Type.Unsafe<never[]>({ type: "array", items: false, maxItems: 0 });
const arrayOfAtLeast = (items: TSchema, minItems: number) => Type.Array(items, { minItems });
const ring = arrayOfAtLeast(position, 4);

/** `coordinates` by geometry type (RFC 7946, 3.1.2 – 3.1.7); an empty array is an empty geometry. */
const coordinates = {
  Point: Type.Union([position, emptyArray]),
  MultiPoint: Type.Array(position),
  LineString: Type.Union([arrayOfAtLeast(position, 2), emptyArray]),
  MultiLineString: Type.Array(arrayOfAtLeast(position, 2)),
  Polygon: Type.Array(ring),
  MultiPolygon: Type.Array(arrayOfAtLeast(ring, 1)),
};

const simpleGeometries = Object.entries(coordinates).map(([type, of]) =>
  Type.Object({ type: Type.Literal(type), coordinates: of }),
);

export const Geometry = Type.Unsafe<object>({
  title: "Geometry",
  anyOf: [
    ...simpleGeometries,
    {
      type: "object",
      required: ["type", "geometries"],
      properties: {
        type: { type: "string", const: "GeometryCollection" },
        geometries: { type: "array", items: { type: "object" } },
      },
    },
  ],
});

const Properties = Type.Record(Type.String(textSchema), Type.Unknown(), {
  description:
    "Any members; integers must be smaller than 2^53 in magnitude, strings without U+0000 and lone surrogates",
});

const geometryOrNull = Type.Union([Geometry, Type.Null()]);

/** A feature in a request (2.2). */
export const Feature = Type.Object(
  {
    type: Type.Literal("Feature"),
    id: Type.Optional(Type.Unknown({ description: "UUID; matches an existing feature in a synchronisation" })),
    geometry: geometryOrNull,
    properties: Properties,
  },
  { title: "Feature" },
);

/** A feature in a response. */
export const StoredFeature = Type.Object(
  {
    type: Type.Literal("Feature"),
    id: IdSchema,
    geometry: geometryOrNull,
    properties: Properties,
  },
  { title: "StoredFeature" },
);

/** A feature in a PATCH request. */
export const FeatureChange = Type.Object(
  {
    type: Type.Optional(Type.Literal("Feature")),
    id: Type.Optional(Type.Unknown({ description: "UUID of the feature, if there is no `remoteField`" })),
    geometry: Type.Optional(geometryOrNull),
    properties: Type.Optional(Properties),
  },
  { title: "FeatureChange" },
);

/** How PATCH handles a property whose value is null (RFC 7396 removes it). */
const nullHandling = Type.Optional(
  Type.Union([Type.Literal("remove"), Type.Literal("set")], {
    default: "remove",
    description: "Whether a property that is sent as null is removed, or set to null",
  }),
);

/** The body of a PATCH of a single feature. */
export const SingleFeatureChange = Type.Object(
  { ...FeatureChange.properties, nulls: nullHandling },
  { title: "OneFeatureChange" },
);

/** A feature in a DELETE request. */
export const FeatureSelector = Type.Object(
  {
    id: Type.Optional(Type.Unknown({ description: "UUID of the feature, if there is no `remoteField`" })),
    properties: Type.Optional(Properties),
  },
  { title: "FeatureName" },
);

/** The request body of section 2.3. */
export const collectionSchema = (feature: TSchema) =>
  Type.Object({
    ...(feature === FeatureChange ? { nulls: nullHandling } : {}),
    type: Type.Optional(Type.Literal("FeatureCollection")),
    remoteField: Type.Optional(
      Type.Union([
        Type.String({
          minLength: 1,
          maxLength: 1000,
          pattern: "^[^\\u0000\\ud800-\\udfff]*$",
          description: "Name of the property that identifies a feature",
        }),
        Type.Null({ description: "Same as absent" }),
      ]),
    ),
    features: Type.Unsafe<unknown[]>({ type: "array", items: feature, maxItems: maxFeaturesPerRequest }),
  });

export const Page = Type.Object(
  {
    type: Type.Literal("FeatureCollection"),
    features: Type.Array(StoredFeature),
  },
  { title: "Page" },
);

const failureList = Type.Array(Type.Object({ id: IdSchema, path: Type.String(), message: Type.String() }));

/** Section 2.4. */
export const OperationResult = Type.Object(
  {
    success: Type.Array(Type.Object({ id: IdSchema, message: Type.String() })),
    failed: failureList,
    deleted: Type.Optional(Type.Integer({ minimum: 0, description: "Features that a synchronisation deleted" })),
    droppedRemoteField: Type.Optional(
      Type.String({
        description:
          "The least recently used remoteField, whose index was dropped since a map keeps eight; the next write with it is slow",
      }),
    ),
  },
  { title: "OperationResult" },
);

/** Section 4.2; `Link: rel="next"` contains `after`. */
export const PageQuery = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1 })),
  per_page: Type.Optional(Type.Integer({ minimum: 1, maximum: pageSize.max, default: pageSize.default })),
  after: Type.Optional(Type.Integer({ minimum: 0, description: "Continues after an earlier page; not with `page`" })),
});

export const MapParams = Type.Object({ mapId: Type.String({ format: "uuid" }) });
export const FeatureParams = Type.Object({
  mapId: Type.String({ format: "uuid" }),
  featureId: Type.String({ format: "uuid" }),
});

const ifMatch = Type.Optional(
  Type.String({ description: "ETags, one of which the map must have, otherwise 412 (RFC 9110, 13.1.1)" }),
);
const readIfNoneMatch = Type.Optional(
  Type.String({ description: "ETags, any of which results in 304 (RFC 9110, 13.1.2)" }),
);
const writeIfNoneMatch = Type.Optional(
  Type.String({ description: "ETags that the map must not have, otherwise 412 (RFC 9110, 13.1.2)" }),
);
const prefer = Type.Optional(Type.String({ description: "`handling=strict`: all or nothing (RFC 7240)" }));

export const ReadHeaders = Type.Object({ "if-match": ifMatch, "if-none-match": readIfNoneMatch });
export const WriteHeaders = Type.Object({ "if-match": ifMatch, "if-none-match": writeIfNoneMatch, prefer });
export const WriteOnceHeaders = Type.Object({
  "if-match": ifMatch,
  "if-none-match": writeIfNoneMatch,
  prefer,
  "idempotency-key": Type.Optional(
    Type.String({ description: "A request with the same key is applied once within 24 hours" }),
  ),
});

export const ProblemBody = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    message: Type.String(),
    code: Type.String(),
    requestId: Type.String(),
    failed: Type.Optional(failureList),
  },
  { title: "Problem" },
);
