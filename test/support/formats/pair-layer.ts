import {
  Batch,
  columnBuilder,
  type FieldType,
  type Geometry,
  GeometryBuilder,
  Kind,
  type Position,
  pushValue,
  type Value,
} from "../../../src/model/index.js";

/** Key field; its value is unique to each feature. */
export const keyField = "int32";

const places: readonly Position[] = [
  [6.77, 45.88, 1653],
  [6.71, 45.73, 2329],
  [6.81, 45.75, 2516],
  [7.08, 45.89, 2537],
];
const square = ([x, y, z]: Position): Position[] =>
  [[0, 0] as const, [0.5, 0] as const, [0.5, 0.5] as const, [0, 0.5] as const, [0, 0] as const].map(([dx, dy]) => [
    x! + dx,
    y! + dy,
    z!,
  ]);
const [first, second] = [places[0]!, places[1]!];
const east: Position = [9, 46, 500];

/** All geometry types, with heights; the last feature has none. */
const geometries: readonly (Geometry | null)[] = [
  { type: "Point", coordinates: first },
  { type: "LineString", coordinates: [...places] },
  { type: "Polygon", coordinates: [square(first)] },
  { type: "MultiPoint", coordinates: [...places] },
  {
    type: "MultiLineString",
    coordinates: [
      [first, second],
      [second, east],
    ],
  },
  { type: "MultiPolygon", coordinates: [[square(first)], [square(east)]] },
  {
    type: "GeometryCollection",
    geometries: [
      { type: "Point", coordinates: first },
      { type: "LineString", coordinates: [first, second] },
    ],
  },
  null,
];

/** One field of each type; null in the feature with a Polygon. */
const fields: readonly { readonly name: string; readonly type: FieldType; readonly values: readonly Value[] }[] = [
  { name: keyField, type: "int32", values: geometries.map((_, row) => row + 1) },
  { name: "boolean", type: "boolean", values: [true, false] },
  { name: "int64", type: "int64", values: [2n ** 53n + 1n, -(2n ** 63n)] },
  { name: "double", type: "double", values: [0.1, -273.15] },
  { name: "text", type: "text", values: ["Mont Blanc", "", "Białowieża", "長江".repeat(60)] },
  { name: "date", type: "date", values: ["1786-08-08", "2024-02-29"] },
  { name: "time", type: "time", values: ["18:23:00", "06:00:00.5"] },
  { name: "datetime", type: "datetime", values: ["1786-08-08T18:23:00+01:00", "2024-02-29T06:00:00.5Z"] },
  { name: "binary", type: "binary", values: [Uint8Array.of(0, 255, 128)] },
  { name: "json", type: "json", values: ['{"countries":["FR","IT"]}', "[1,2.5]"] },
  { name: "name_of_ten_and_more", type: "text", values: ["Monte Bianco"] },
];

/** A layer with each feature of the model once: field types, geometry types, heights and measures, ids, nulls. */
export function pairLayer(): Batch {
  const geometry = new GeometryBuilder();
  for (const shape of geometries) geometry.addGeoJson(shape);
  geometry.beginSinglePart(Kind.LineString);
  for (const [n, [x, y, z]] of places.entries()) geometry.addPositionZM(x!, y!, z!, 10 * n);
  geometry.end();
  const rows = Array.from({ length: geometry.length }, (_, row) => row);
  const column = (type: FieldType, values: readonly Value[], nullRow = -1) => {
    const builder = columnBuilder(type);
    for (const row of rows) pushValue(builder, row === nullRow ? null : values[row % values.length]);
    return builder.finish();
  };
  const nullRow = geometries.findIndex((shape) => shape?.type === "Polygon");
  return new Batch({
    length: rows.length,
    ids: column(
      "int32",
      rows.map((row) => 100 + row),
    ),
    fields: fields.map(({ name, type }) => ({ name, type })),
    columns: fields.map(({ name, type, values }) =>
      name === keyField
        ? column(
            type,
            rows.map((row) => row + 1),
          )
        : column(type, values, nullRow),
    ),
    geometry: geometry.finish(),
    recordNumbers: null,
    firstRecord: 1,
  });
}
