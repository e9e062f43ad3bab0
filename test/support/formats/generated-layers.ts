import fc from "fast-check";
import {
  Batch,
  columnBuilder,
  type FieldType,
  type Geometry,
  GeometryBuilder,
  type Position,
  pushValue,
  type Value,
} from "../../../src/model/index.js";

/** A layer that fast-check generates and shrinks. */
export interface GeneratedLayer {
  readonly geometries: readonly (Geometry | null)[];
  /** Values that repeat cyclically; undefined if the feature lacks the property. */
  readonly fields: readonly {
    readonly name: string;
    readonly type: FieldType;
    readonly values: readonly (Value | undefined)[];
  }[];
  readonly ids: readonly (number | string | null)[] | null;
}

/** Unique where features may be split to several outputs (see `withKey`), to find them again. */
export const keyField = "_key";

const scripts = [..."abcXYZ019_", ..."äßçŁ", ..."жЩя", ..."東京あ", ..."عربي", "😀", "e\u0301"];
const wordText = fc.string({ unit: fc.constantFrom(...scripts), maxLength: 12 });
const edgeCaseTexts = [
  "",
  " ",
  "  blanks around  ",
  "007",
  "-0",
  "1.50",
  "1e5",
  "true",
  "null",
  "NaN",
  "2024-02-29",
  "10:30:00",
  "2024-02-29T10:30:00Z",
  'a "quoted" word',
  '"',
  "comma, semicolon; tab\tand | bar",
  "two\nlines",
  "two\r\nlines",
  "\r",
  "=1+1",
  "POINT (1 2)",
  "{}",
  "a\u0000b",
  "\u0001",
  "\ufeffmark",
  "\u2028",
  "é".repeat(127),
  "é".repeat(128),
  "x".repeat(300),
];
const text = fc.oneof(wordText, fc.constantFrom(...edgeCaseTexts), fc.string({ unit: "binary", maxLength: 6 }));

const twoDigits = (n: number) => String(n).padStart(2, "0");
const date = fc.oneof(
  fc.constantFrom("2024-02-29", "0001-01-01", "9999-12-31", "1970-01-01"),
  fc
    .record({
      y: fc.integer({ min: 1000, max: 9999 }),
      m: fc.integer({ min: 1, max: 12 }),
      d: fc.integer({ min: 1, max: 28 }),
    })
    .map(({ y, m, d }) => `${y}-${twoDigits(m)}-${twoDigits(d)}`),
);
const time = fc
  .record({
    h: fc.integer({ min: 0, max: 23 }),
    m: fc.integer({ min: 0, max: 59 }),
    s: fc.integer({ min: 0, max: 59 }),
    rest: fc.constantFrom("", ".5", ".123456"),
  })
  .map(({ h, m, s, rest }) => `${twoDigits(h)}:${twoDigits(m)}:${twoDigits(s)}${rest}`);
const datetime = fc
  .tuple(date, time, fc.constantFrom("", "Z", "+05:45", "-03:00"))
  .map(([day, clock, zone]) => `${day}T${clock}${zone}`);

const valuesOf: Readonly<Record<FieldType, fc.Arbitrary<Value>>> = {
  boolean: fc.boolean(),
  int32: fc.oneof(fc.integer({ min: -9, max: 9 }), fc.integer(), fc.constantFrom(2147483647, -2147483648)),
  int64: fc.oneof(
    fc.bigInt({ min: -(2n ** 53n), max: 2n ** 53n }),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.constantFrom(1n, 2147483648n, 9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)),
  ),
  double: fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(1, 0, -7, 0.1, 1 / 3, 1e300, 5e-324, 1e21, 1e15, 123456789012345680, 1e-7, Number.MAX_VALUE),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY),
  ),
  text,
  date,
  time,
  datetime,
  binary: fc.uint8Array({ maxLength: 20 }),
  json: fc.oneof(
    fc.constantFrom("{}", "[]", '{"a":1,"b":[true,null,"x"]}', '[1,2.5,"é"]', '"text"', "1", "true", "[1.0, -0.0]"),
    fc.array(fc.oneof(fc.integer(), wordText), { maxLength: 3 }).map((value) => JSON.stringify(value)),
  ),
};
const types = Object.keys(valuesOf) as FieldType[];

const fieldNames = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: fc.constantFrom(...scripts), minLength: 1, maxLength: 12 }) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom("Население города и ", "人口密度の高い地域", "a_long_name_", "عدد السكان "), fc.nat(99))
      .map(([stem, n]) => `${stem.repeat(30).slice(0, 200 - String(n).length)}${n}`),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "abcdefghij",
      "abcdefghijk",
      "ABCDEFGHIJ",
      "abcdefgh_1",
      "__proto__",
      "constructor",
      "id",
      "ID",
      "id_1",
      "fid",
      "lon",
      "lat",
      "x",
      "y",
      "z",
      "geometry",
      "wkt",
      "coordinates",
      "name",
      "Name",
      "two words",
      " led",
      "trailed ",
      'a "quoted" name',
      "comma,semicolon;",
      "two\nlines",
      "tab\t",
      "1",
      "2020",
      "1.5",
      "2020-01-01",
      "true",
      " ",
    ),
  },
);

const field = fc.constantFrom(...types).chain((type) =>
  fc.record({
    name: fieldNames,
    type: fc.constant(type),
    values: fc.array(
      fc.oneof(
        { weight: 8, arbitrary: valuesOf[type] as fc.Arbitrary<Value | undefined> },
        { weight: 1, arbitrary: fc.constantFrom<Value | undefined>(null, undefined) },
      ),
      { minLength: 1, maxLength: 6 },
    ),
  }),
);

const coordinate = (max: number) =>
  fc.oneof(
    fc.integer({ min: -max, max }),
    fc.integer({ min: -max * 1e6, max: max * 1e6 }).map((n) => n / 1e6),
    fc.double({ min: -max, max, noNaN: true }),
  );
const x = coordinate(170);
const y = coordinate(80);
const height = fc.oneof(fc.integer({ min: -400, max: 8848 }), fc.double({ min: -400, max: 8848, noNaN: true }));

type MakePosition = (x: number, y: number) => Position;
/** The last position equals the first, including the height (RFC 7946, 3.1.6). */
const square = (at: MakePosition, left: number, low: number, size: number): Position[] => {
  const first = at(left, low);
  return [first, at(left + size, low), at(left + size, low + size), at(left, low + size), first];
};
const polygonAt = (at: MakePosition, left: number, low: number, holed: boolean): Position[][] =>
  holed ? [square(at, left, low, 0.5), square(at, left + 0.1, low + 0.1, 0.2).reverse()] : [square(at, left, low, 0.5)];

type Kind = Geometry["type"];
const emptyGeometry = (type: Kind): Geometry =>
  (type === "GeometryCollection" ? { type, geometries: [] } : { type, coordinates: [] }) as Geometry;

function geometryOf(type: Kind): fc.Arbitrary<Geometry> {
  return fc
    .record({
      points: fc.array(fc.tuple(x, y), { minLength: 2, maxLength: 4 }),
      z: fc.option(height, { nil: undefined }),
      holed: fc.boolean(),
      parts: fc.integer({ min: 1, max: 3 }),
    })
    .map(({ points, z, holed, parts }): Geometry => {
      let n = 0;
      const at: MakePosition = (a, b) => (z === undefined ? [a, b] : [a, b, z + n++]);
      const [first, low] = points[0]!;
      const line = () => points.map(([a, b]) => at(a, b));
      const polygons = () => Array.from({ length: parts }, (_, p) => polygonAt(at, first + p, low, holed));
      switch (type) {
        case "Point":
          return { type, coordinates: at(first, low) };
        case "MultiPoint":
        case "LineString":
          return { type, coordinates: line() };
        case "MultiLineString":
          return { type, coordinates: Array.from({ length: parts }, line) };
        case "Polygon":
          return { type, coordinates: polygons()[0]! };
        case "MultiPolygon":
          return { type, coordinates: polygons() };
        default:
          return {
            type,
            geometries: [
              { type: "Point", coordinates: at(first, low) },
              holed ? { type: "LineString", coordinates: line() } : { type: "Point", coordinates: at(first, low) },
            ],
          };
      }
    });
}

const geometryFamilies: readonly (readonly Kind[])[] = [
  ["Point"],
  ["Point"],
  ["MultiPoint"],
  ["LineString", "MultiLineString"],
  ["Polygon", "MultiPolygon"],
  ["Point", "LineString", "Polygon"],
  ["Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection"],
];
const geometries = fc
  .constantFrom(...geometryFamilies)
  .chain((kinds) =>
    fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom(...kinds).chain(geometryOf) as fc.Arbitrary<Geometry | null> },
        { weight: 1, arbitrary: fc.constant<Geometry | null>(null) },
        { weight: 1, arbitrary: fc.constantFrom(...kinds).map(emptyGeometry) },
      ),
      { maxLength: 30, size: "max" },
    ),
  );
const fewGeometries: fc.Arbitrary<readonly (Geometry | null)[]> = fc.oneof(
  { weight: 6, arbitrary: geometries },
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: geometries.map((all) => all.slice(0, 1)) },
  { weight: 1, arbitrary: geometries.map((all) => all.map(() => null)) },
);

const uniqueFields = (minLength: number, maxLength: number) =>
  fc.uniqueArray(field, { minLength, maxLength, selector: ({ name }) => name, size: "max" });

export const generatedLayer: fc.Arbitrary<GeneratedLayer> = fc
  .record({
    geometries: fewGeometries,
    fields: uniqueFields(0, 7),
    ids: fc.constantFrom("none", "none", "numbers", "texts", "some"),
  })
  .map(({ geometries: all, fields, ids }) => ({
    geometries: all,
    fields,
    ids:
      ids === "none"
        ? null
        : all.map((_, i) => (ids === "texts" ? `id-${i}` : ids === "some" && i % 3 === 0 ? null : i * 3)),
  }));

/** Adds a unique number to each feature of a layer. */
export const withKey = (layer: GeneratedLayer): GeneratedLayer => ({
  ...layer,
  fields: [{ name: keyField, type: "int32", values: layer.geometries.map((_, i) => i) }, ...layer.fields],
});

/** 300 fields, with texts short enough for a .dbf record. */
export const wideLayer: fc.Arbitrary<GeneratedLayer> = fc.record({
  geometries: geometryOf("Point").map((point) => [point, point, point]),
  fields: fc.array(field, { minLength: 300, maxLength: 300, size: "max" }).map((all) =>
    all.map(({ name, type, values }, n) => ({
      name: `${name.slice(0, 190)}${n}`,
      type,
      values: values.map((value) =>
        typeof value === "string" && type !== "json" ? value.slice(0, type === "text" ? 20 : 40) : value,
      ),
    })),
  ),
  ids: fc.constant(null),
});

/** The layer as one batch. */
export function batchOf({ geometries: shapes, fields, ids }: GeneratedLayer): Batch {
  const geometry = new GeometryBuilder();
  for (const shape of shapes) geometry.addGeoJson(shape);
  const column = (type: FieldType, values: readonly (Value | undefined)[]) => {
    const builder = columnBuilder(type);
    for (let row = 0; row < shapes.length; row++) pushValue(builder, values[row % values.length]);
    return builder.finish();
  };
  const idType = ids?.some((id) => typeof id === "string") ? "text" : "int32";
  return new Batch({
    length: shapes.length,
    ids: ids && ids.length > 0 ? column(idType, ids) : null,
    fields: fields.map(({ name, type }) => ({ name, type })),
    columns: fields.map(({ type, values }) => column(type, values)),
    geometry: geometry.finish(),
    recordNumbers: null,
    firstRecord: 1,
  });
}
