// Writes the tables in this folder from PROJ's database: node src/crs/tables/build.mjs /usr/share/proj/proj.db
// A second, newer database supplies the areas, accuracies and replacements of operations that are in both.
// Needs the sqlite3 command. Run it again with a newer proj.db to follow a newer EPSG dataset.
// Origin and terms: README.md in this folder.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

const database = process.argv[2] ?? "/usr/share/proj/proj.db";
const newer = process.argv[3] ?? database;
const rows = (sql, from = database) => {
  const text = execFileSync("sqlite3", ["-json", from, sql], { maxBuffer: 2 ** 29, encoding: "utf8" });
  return text.trim() ? JSON.parse(text) : [];
};
const key = (authority, code) => (authority === "ESRI" ? `E${code}` : `${code}`);
const number = (value) => `${Number(value.toPrecision(15))}`;

const metadata = Object.fromEntries(rows("select key, value from metadata").map((row) => [row.key, row.value]));
const units = new Map(rows("select * from unit_of_measure").map((unit) => [`${unit.code}`, unit]));

// EPSG's sexagesimal DMS: 12.27084 is 12° 27' 08.4". Read from the decimal digits, as dividing would lose some.
function sexagesimal(value) {
  const [degrees, fraction = ""] = Math.abs(value).toFixed(12).split(".");
  const minutes = Number(fraction.slice(0, 2));
  const seconds = Number(`${fraction.slice(2, 4)}.${fraction.slice(4)}`);
  return Math.sign(value) * (Number(degrees) + minutes / 60 + seconds / 3600);
}
function degrees(value, unit) {
  if (unit === "9110") return sexagesimal(value);
  if (unit === "9102" || unit === "9122") return value;
  if (unit === "9105" || unit === "9106") return value * 0.9;
  if (unit === "9104") return value / 3600;
  if (unit === "9101") return (value * 180) / Math.PI;
  throw new Error(`angle in unit ${unit}`);
}

// Areas of use: west, south, east, north. Several usages of one object are united.
function areasOf(from) {
  const areas = new Map();
  const usages = rows(
    `select u.object_table_name t, u.object_auth_name a, u.object_code c,
      e.west_lon w, e.south_lat s, e.east_lon e, e.north_lat n
      from usage u join extent e on e.auth_name = u.extent_auth_name and e.code = u.extent_code`,
    from,
  );
  for (const row of usages) {
    if (row.w === null) continue;
    const name = `${row.t}/${key(row.a, row.c)}`;
    const box = [row.w, row.s, row.e, row.n];
    const had = areas.get(name);
    if (!had) areas.set(name, box);
    else if (had[0] <= had[2] && box[0] <= box[2]) {
      areas.set(name, [
        Math.min(had[0], box[0]),
        Math.min(had[1], box[1]),
        Math.max(had[2], box[2]),
        Math.max(had[3], box[3]),
      ]);
    }
  }
  return areas;
}
const areas = areasOf(database);
for (const [name, box] of newer === database ? [] : areasOf(newer))
  if (/^(\w+_transformation|concatenated_operation)\//.test(name) && areas.has(name)) areas.set(name, box);
const area = (table, code) => (areas.get(`${table}/${code}`) ?? []).map(number).join(",");

const aliases = new Map();
for (const row of rows("select table_name t, auth_name a, code c, alt_name n, source s from alias_name")) {
  const name = `${row.t}/${key(row.a, row.c)}`;
  if (!aliases.has(name)) aliases.set(name, []);
  aliases.get(name).push(row);
}
const esriName = (table, code) =>
  (aliases.get(`${table}/${code}`) ?? []).findLast((alias) => alias.s === "ESRI")?.n ?? "";
const otherNames = (table, code) =>
  [
    ...new Set(
      (aliases.get(`${table}/${code}`) ?? [])
        .filter((alias) => alias.s !== "ESRI" || table !== "geodetic_datum")
        .map((a) => a.n),
    ),
  ].join(";");

const wanted = "auth_name in ('EPSG', 'ESRI')";

const ellipsoids = rows(`select * from ellipsoid where ${wanted}`).map((row) => {
  const metres = units.get(`${row.uom_code}`).conv_factor;
  const a = row.semi_major_axis * metres;
  const inverse =
    row.inv_flattening ??
    (row.semi_minor_axis === null || row.semi_minor_axis === row.semi_major_axis
      ? 0
      : row.semi_major_axis / (row.semi_major_axis - row.semi_minor_axis));
  const code = key(row.auth_name, row.code);
  return [
    code,
    row.name,
    row.auth_name === "ESRI" ? row.name : esriName("ellipsoid", code),
    number(a),
    number(inverse),
  ];
});

const meridians = rows(`select * from prime_meridian where ${wanted}`).map((row) => [
  key(row.auth_name, row.code),
  row.name,
  number(degrees(row.longitude, `${row.uom_code}`)),
]);

// A datum that differs from another by its prime meridian only (NTF (Paris), NTF) is moved by that one's operations.
const meridianTwins = new Map();
for (const row of rows(`select s.datum_code s, t.datum_code t, o.param1_value v, o.param1_uom_code u, p.longitude l, p.uom_code lu
    from other_transformation o
    join geodetic_crs s on s.auth_name = 'EPSG' and s.code = o.source_crs_code
    join geodetic_crs t on t.auth_name = 'EPSG' and t.code = o.target_crs_code
    join geodetic_datum d on d.auth_name = 'EPSG' and d.code = s.datum_code
    join prime_meridian p on p.auth_name = 'EPSG' and p.code = d.prime_meridian_code
    where o.method_code = 9601 and o.auth_name = 'EPSG' and o.deprecated = 0 and o.accuracy = 0 order by o.code`)) {
  const same = Math.abs(degrees(row.v, `${row.u}`) - degrees(row.l, `${row.lu}`)) < 1e-12;
  if (same && !meridianTwins.has(row.s)) meridianTwins.set(row.s, row.t);
}

const datums = rows(`select * from geodetic_datum where ${wanted}`).map((row) => {
  const code = key(row.auth_name, row.code);
  return [
    code,
    row.name,
    row.auth_name === "ESRI" ? row.name : esriName("geodetic_datum", code),
    otherNames("geodetic_datum", code),
    key(row.ellipsoid_auth_name, row.ellipsoid_code),
    key(row.prime_meridian_auth_name, row.prime_meridian_code),
    meridianTwins.get(row.code) ?? "",
  ];
});

const axisUnit = new Map(
  rows(
    "select coordinate_system_code c, uom_code u from axis where coordinate_system_auth_name in ('EPSG', 'ESRI') and coordinate_system_order = 1",
  ).map((row) => [`${row.c}`, `${row.u}`]),
);
const kinds = { "geographic 2D": "G", "geographic 3D": "H", geocentric: "C" };

const geodetic = rows(`select * from geodetic_crs where ${wanted}`).map((row) => {
  const code = key(row.auth_name, row.code);
  if (row.text_definition)
    return [code, "W", row.name, row.deprecated ? "d" : "", area("geodetic_crs", code), row.text_definition];
  const name = row.auth_name === "ESRI" ? row.name : esriName("geodetic_crs", code);
  const unit = kinds[row.type] === "C" ? "9001" : (axisUnit.get(`${row.coordinate_system_code}`) ?? "9122");
  return [
    code,
    kinds[row.type],
    row.name,
    row.deprecated ? "d" : "",
    area("geodetic_crs", code),
    name,
    key(row.datum_auth_name, row.datum_code),
    units.get(unit)?.conv_factor == null ? "9122" : unit,
  ];
});

const isAngle = new Set(
  "8801 8802 8811 8812 8813 8814 8821 8822 8823 8824 8828 8829 8830 8831 8832 8833 8834 8835 1036 8818".split(" "),
);
const isRatio = new Set("8805 8815 8819 1038".split(" "));
const projected = [];
for (const row of rows(`select p.*, c.method_code, ${[1, 2, 3, 4, 5, 6, 7]
  .flatMap((n) => [`c.param${n}_code`, `c.param${n}_value`, `c.param${n}_uom_code`])
  .join(
    ", ",
  )} from projected_crs p left join conversion_table c on c.auth_name = p.conversion_auth_name and c.code = p.conversion_code
    where p.${wanted}`)) {
  const code = key(row.auth_name, row.code);
  const head = [
    code,
    row.text_definition ? "W" : "P",
    row.name,
    row.deprecated ? "d" : "",
    area("projected_crs", code),
  ];
  if (row.text_definition) {
    projected.push([...head, row.text_definition]);
    continue;
  }
  const unit = axisUnit.get(`${row.coordinate_system_code}`);
  const metres = units.get(unit).conv_factor;
  const values = [];
  for (let n = 1; n <= 7 && row[`param${n}_code`] != null; n++) {
    const parameter = `${row[`param${n}_code`]}`;
    const value = row[`param${n}_value`];
    const uom = `${row[`param${n}_uom_code`]}`;
    if (isAngle.has(parameter)) values.push(number(degrees(value, uom)));
    else if (isRatio.has(parameter)) values.push(number(value * units.get(uom).conv_factor));
    else values.push(uom === unit ? number(value) : number((value * units.get(uom).conv_factor) / metres));
  }
  const name = row.auth_name === "ESRI" ? row.name : esriName("projected_crs", code);
  projected.push([
    ...head,
    name,
    key(row.geodetic_crs_auth_name, row.geodetic_crs_code),
    unit,
    `${row.method_code}`,
    values.join(","),
  ]);
}

const compound = rows("select * from compound_crs where auth_name = 'EPSG'").map((row) => [
  key(row.auth_name, row.code),
  "V",
  row.name,
  row.deprecated ? "d" : "",
  area("compound_crs", `${row.code}`),
  key(row.horiz_crs_auth_name, row.horiz_crs_code),
]);

const usedUnits = new Set([...projected, ...geodetic].map((line) => line[7]).concat(projected.map((line) => line[7])));
const unitLines = [...units.values()]
  .filter(
    (unit) =>
      unit.auth_name !== "PROJ" &&
      (unit.type === "length" || unit.type === "angle") &&
      unit.conv_factor !== null &&
      usedUnits.has(`${unit.code}`),
  )
  .map((unit) => [`${unit.code}`, unit.name, esriName("unit_of_measure", `${unit.code}`), `${unit.conv_factor}`]);

// Geocentric operations between datums. Rotations in arc-seconds, position vector convention; scale in ppm.
// PROJ prefers none whose area it describes as offshore; so do we, by the mark after the accuracy.
const offshore = new Set(
  rows(`select distinct u.object_auth_name a, u.object_code c from usage u join extent e on e.auth_name = u.extent_auth_name
    and e.code = u.extent_code where u.object_table_name = 'helmert_transformation' and e.description like '%- offshore%'`).map(
    (row) => key(row.a, row.c),
  ),
);
const positionVector = new Set([1033, 1037, 9606, 1061, 1062, 1063]);
const coordinateFrame = new Set([1032, 1038, 9607, 1034, 1039, 9636]);
const translation = new Set([1031, 1035, 9603]);
// By the systems of this database: later operations to realisations of ETRS89 replace those to ETRS89 itself elsewhere only.
const ends = new Map(
  rows(`select code c, source_crs_code || ' ' || target_crs_code e from helmert_transformation
    where auth_name = 'EPSG' and deprecated = 0`).map((row) => [`${row.c}`, row.e]),
);
const haveSameEnds = (a, b) => ends.has(`${b}`) && ends.get(`${a}`) === ends.get(`${b}`);
const superseded = new Set(
  [database, newer].flatMap((from) =>
    rows(
      `select superseded_code c, replacement_code r from supersession
        where superseded_table_name = 'helmert_transformation' and replacement_table_name = 'helmert_transformation'
        and superseded_auth_name = 'EPSG' and same_source_target_crs = 1`,
      from,
    )
      .filter(({ c, r }) => from === database || haveSameEnds(c, r))
      .map((row) => `${row.c}`),
  ),
);
// Where EPSG has come to know better where its operations hold, and how accurate they are.
const accuraciesSince = new Map(
  rows("select code c, accuracy a from helmert_transformation where auth_name = 'EPSG' and deprecated = 0", newer).map(
    (row) => [`${row.c}`, row.a],
  ),
);
// Of MGI 1901 in Kosovo: 1.6 km from what the operations of Serbia and North Macedonia give at the same places, which are
// accurate to 1 m as these are said to be. No survey is bent like that.
const contradicted = new Set(["9142", "9143"]);
// Serbia's operations are for Serbia without Kosovo, which only lies in the rectangle around it. There they agree with those
// of the other neighbours within 4 m, which is better than what is registered for all former Yugoslavia (5 m).
const kosovo = [19.97, 41.85, 21.8, 43.25];
const ofSerbia = new Set(["7675", "9486", "9495"]);
function besideKosovo(line) {
  const [source, target, code, name, , box, how] = line;
  const [west, south, east, north] = box.split(",").map(Number);
  const around = [
    [west, kosovo[3], east, north],
    [west, south, kosovo[0], kosovo[3]],
    [kosovo[2], south, east, kosovo[3]],
  ];
  const inKosovo = [source, target, `${code}-XK`, `${name}, taken for Kosovo`, "4", kosovo.join(","), how];
  return [...around.map((part) => line.with(5, part.join(","))), inKosovo];
}
// Replaced since by EPSG v13.102, to whose GR96 ensemble they lead: the earlier operation of Ammassalik 1958, stated as
// accurate to 1 m, lies 78 m from its successor. By the codes that they take the place of.
const later = new Map(
  Object.entries({
    15899:
      "6195|6747|10963|Scoresbysund 1952 to GR96 (2)|10|-29.69,68.66,-19.89,74.58|218.233,270.6151,253.1391,-0.26337,0.15733,1.19862,-59.923872",
    15900:
      "6196|6747|10961|Ammassalik 1958 to GR96 (2)|0.4|-38.86,65.52,-36.81,65.91|308.9415,136.202,986.3661,3.8742,-3.77827,7.61344999999999,-171.67315",
    15957:
      "6194|6747|11229|Qornoq 1927 to GR96 (2)|8|-73.29,59.74,-42.52,79|197.8579,146.5947,-108.8501,0.857349999999999,-0.36082,-0.38626,-8.356137",
  }),
);
/**
 * @param row of an operation, with the datums that it is between
 * @param table of the database that it stands in
 * @param how the last cell, see `write` of operations.ts
 */
const operationLine = ({ source, target, code, name, accuracy }, table, how) => [
  ...[`${source}`, `${target}`, `${code}`, name, accuracy],
  ...[area(table, `${code}`), how],
];
const operations = [];
// Those that EPSG has replaced are not used, but a definition may declare them: then they are known by their numbers.
const replaced = [];
const flatPairs = new Set();
for (const row of rows(`select h.*, s.datum_code source, t.datum_code target, s.type = 'geographic 2D' and t.type = 'geographic 2D' flat
    from helmert_transformation_table h
    join geodetic_crs s on s.auth_name = h.source_crs_auth_name and s.code = h.source_crs_code
    join geodetic_crs t on t.auth_name = h.target_crs_auth_name and t.code = h.target_crs_code
    where h.auth_name in ('EPSG', 'PROJ') and s.auth_name = 'EPSG' and t.auth_name = 'EPSG' and h.deprecated = 0
    order by flat desc, h.auth_name, h.code`)) {
  const method = Number(row.method_code);
  const former = superseded.has(`${row.code}`);
  if (row.source === row.target || (former && `${row.target}` !== "6326")) continue;
  if (contradicted.has(`${row.code}`)) continue;
  if (![positionVector, coordinateFrame, translation].some((set) => set.has(method))) continue;
  // Operations between geocentric or three-dimensional systems serve only datums that have none between flat ones.
  const pair = [row.source, row.target].sort().join();
  if (former);
  else if (row.flat) flatPairs.add(pair);
  else if (flatPairs.has(pair)) continue;
  const factor = (unit, base) => (unit === null ? 1 : units.get(`${unit}`).conv_factor / base);
  const metres = factor(row.translation_uom_code, 1);
  const seconds = factor(row.rotation_uom_code, Math.PI / 648000) * (coordinateFrame.has(method) ? -1 : 1);
  const ppm = factor(row.scale_difference_uom_code, 1e-6);
  const pivot = factor(row.pivot_uom_code, 1);
  const values = [
    row.tx * metres,
    row.ty * metres,
    row.tz * metres,
    row.rx * seconds,
    row.ry * seconds,
    row.rz * seconds,
    row.scale_difference * ppm,
  ];
  if (row.px !== null) values.push(row.px * pivot, row.py * pivot, row.pz * pivot);
  while (values.length > 1 && values.length <= 7 && !values.at(-1)) values.pop();
  const accuracy = `${accuraciesSince.get(`${row.code}`) ?? row.accuracy ?? ""}${offshore.has(`${row.code}`) ? "~" : ""}`;
  const how = values.map((value) => number(value + 0)).join(",");
  const line = operationLine({ ...row, accuracy }, "helmert_transformation", how);
  if (former) replaced.push(line);
  else if (ofSerbia.has(`${row.code}`)) operations.push(...besideKosovo(line));
  else operations.push(later.get(`${row.code}`)?.split("|") ?? line);
}
// Operations by a grid. PROJ names the files again, and some of them are turned round against EPSG's. The cell begins with
// @ and names every file that does it, the one to be had from PROJ first, each with a - before it where it is used
// backwards; or it begins with # and names what geoferry does not read.
const alternatives = new Map(
  rows("select * from grid_alternatives where proj_method in ('hgridshift', 'gridshift')").map((row) => [
    row.original_grid_name,
    row,
  ]),
);
function gridCell({ method_name: method, grid_name: own }) {
  const known = alternatives.get(own);
  const turned = known?.inverse_direction ? "-" : "";
  const theirs = known ? [known.proj_grid_name, known.old_proj_grid_name].filter((name) => name) : [];
  const names = theirs.map((name) => `${turned}${name}`);
  if (method === "NTv2" && !names.some((name) => name.toLowerCase() === own.toLowerCase())) names.push(own);
  return names.length > 0 ? `@${names.join(";")}` : `#${own}`;
}
// Superseded by one between the same systems.
const supersededGrids = new Set(
  rows(`select superseded_code c from supersession where superseded_table_name = 'grid_transformation'
    and superseded_auth_name = 'EPSG' and same_source_target_crs = 1`).map((row) => `${row.c}`),
);
const seen = new Set();
for (const row of rows(`select g.*, s.datum_code source, t.datum_code target from grid_transformation g
    join geodetic_crs s on s.auth_name = g.source_crs_auth_name and s.code = g.source_crs_code
    join geodetic_crs t on t.auth_name = g.target_crs_auth_name and t.code = g.target_crs_code
    where g.auth_name = 'EPSG' and g.deprecated = 0 and s.type != 'geographic 3D' and g.accuracy is not null
    and g.method_name not like '%height%' and g.method_name not like '%geoid%' and g.method_name not like '%vertical%'
    and g.method_name not like '%depth%' and g.method_name not like '%motion%' order by g.code`)) {
  const line = operationLine(row, "grid_transformation", gridCell(row));
  if (row.source === row.target || supersededGrids.has(`${row.code}`) || seen.has(line.join())) continue;
  seen.add(line.join());
  operations.push(line);
}

// Offsets of longitude and latitude: + and both in arc-seconds. A longitude rotation between datums that are counted from
// one meridian is nothing else.
for (const row of rows(`select o.*, s.datum_code source, t.datum_code target from other_transformation o
    join geodetic_crs s on s.auth_name = o.source_crs_auth_name and s.code = o.source_crs_code
    join geodetic_crs t on t.auth_name = o.target_crs_auth_name and t.code = o.target_crs_code
    join geodetic_datum sd on sd.auth_name = s.datum_auth_name and sd.code = s.datum_code
    join geodetic_datum td on td.auth_name = t.datum_auth_name and td.code = t.datum_code
    where o.auth_name = 'EPSG' and o.method_code in (9601, 9619) and o.deprecated = 0
    and sd.prime_meridian_code = td.prime_meridian_code order by o.code`)) {
  const offset = { 8601: 0, 8602: 0 };
  for (const n of [1, 2]) {
    const [parameter, value, unit] = ["code", "value", "uom_code"].map((part) => row[`param${n}_${part}`]);
    if (parameter !== null) offset[parameter] = degrees(value, `${unit}`) * 3600;
  }
  const how = `+${number(offset[8602])},${number(offset[8601])}`;
  operations.push(operationLine(row, "other_transformation", how));
}

// Operations of several steps, of which a grid or an offset is one: the codes of the steps after a &, with a - before those that are
// gone backwards.
const linesByCode = new Map(operations.map((line) => [line[2], line]));
for (const row of rows(`select c.*, s.datum_code source, t.datum_code target,
    (select group_concat(step_code) from (select step_code from concatenated_operation_step p where p.operation_auth_name
    = c.auth_name and p.operation_code = c.code order by step_number)) steps from concatenated_operation c
    join geodetic_crs s on s.auth_name = c.source_crs_auth_name and s.code = c.source_crs_code
    join geodetic_crs t on t.auth_name = c.target_crs_auth_name and t.code = c.target_crs_code
    where c.auth_name = 'EPSG' and c.deprecated = 0 and s.type = 'geographic 2D' and t.type = 'geographic 2D'
    and c.accuracy is not null order by c.code`)) {
  let at = `${row.source}`;
  const steps = [];
  for (const code of row.steps.split(",")) {
    const step = linesByCode.get(code);
    const next = step?.[0] === at ? step[1] : step?.[1] === at ? step[0] : null;
    if (next === null) break;
    steps.push(step[0] === at ? code : `-${code}`);
    at = next;
  }
  if (steps.length !== row.steps.split(",").length || at !== `${row.target}` || row.source === row.target) continue;
  if (!steps.some((code) => /^[@#+]/.test(linesByCode.get(code.replace("-", ""))[6]))) continue;
  operations.push(operationLine(row, "concatenated_operation", `&${steps.join(",")}`));
}

// What the areas of use are called: of several usages the widest.
const extentNames = new Map();
for (const row of rows(`select u.object_auth_name a, u.object_code c, e.name n,
    max((e.east_lon - e.west_lon + 360 * (e.east_lon < e.west_lon)) * (e.north_lat - e.south_lat))
    from usage u join extent e on e.auth_name = u.extent_auth_name and e.code = u.extent_code
    where u.object_table_name in ('geodetic_crs', 'projected_crs') and u.object_auth_name in ('EPSG', 'ESRI')
    group by u.object_table_name, a, c`)) {
  const code = key(row.a, row.c);
  if (!extentNames.has(row.n)) extentNames.set(row.n, []);
  extentNames.get(row.n).push(code);
}
const areaNames = [...extentNames]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, codes]) => [
    name.replace(/\.$/, ""),
    codes.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).join(","),
  ]);

function write(file, constant, about, lines) {
  const text = lines.map((line) => line.join("|")).join("\n");
  if (/[`\\]|\$\{/.test(text)) throw new Error(`${file}: a character that a template cannot hold`);
  if (lines.some((line) => line.slice(0, -1).some((cell) => `${cell}`.includes("|"))))
    throw new Error(`${file}: | in a cell`);
  writeFileSync(
    new URL(file, import.meta.url),
    `// Generated by build.mjs from PROJ ${metadata["PROJ.VERSION"]}: EPSG ${metadata["EPSG.VERSION"]}, ESRI ${metadata["ESRI.VERSION"]}.\n// EPSG Geodetic Parameter Dataset © IOGP, a changed subset: https://epsg.org/terms-of-use.html. PROJ: MIT. See README.md.\n// ${about}\nexport const ${constant} = \`\n${text}\n\`;\n`,
  );
}
const byCode = (lines) => lines.sort((a, b) => a[0].localeCompare(b[0], "en", { numeric: true }));
const all = byCode([...geodetic, ...projected, ...compound]);
const area_ = "deprecated|west,south,east,north";
write(
  "crs-epsg.ts",
  "epsgLines",
  `code|kind|name|${area_}|…`,
  all.filter((line) => line[0][0] !== "E"),
);
write(
  "crs-esri.ts",
  "esriLines",
  `code|kind|name|${area_}|…`,
  all.filter((line) => line[0][0] === "E"),
);
write(
  "datums.ts",
  "datumLines",
  "code|name|ESRI name|other names|ellipsoid|meridian|twin at Greenwich",
  byCode(datums),
);
write("ellipsoids.ts", "ellipsoidLines", "code|name|ESRI name|a in metres|1/f", byCode(ellipsoids));
write("meridians.ts", "meridianLines", "code|name|degrees", byCode(meridians));
write("units.ts", "unitLines", "code|name|ESRI name|metres or radians", byCode(unitLines));
write(
  "operations.ts",
  "operationLines",
  "source datum|target datum|code|name|accuracy (~ offshore)|area|Helmert values, @ grids, # grid that is not read, + offset, or & steps",
  operations,
);
write("area-names.ts", "areaNameLines", "name of an area of use|codes of the systems that are meant for it", areaNames);
write(
  "replaced-operations.ts",
  "replacedLines",
  "as operations.ts, of operations that EPSG has replaced by others",
  replaced,
);

// The declared order of axes, from the newer database. PROJ's rule for north first: north and east, or named so at a pole.
const axisPairs = (table, what) =>
  rows(
    `select s.code c from ${table} s
      join axis a on a.coordinate_system_auth_name = s.coordinate_system_auth_name
        and a.coordinate_system_code = s.coordinate_system_code and a.coordinate_system_order = 1
      join axis b on b.coordinate_system_auth_name = s.coordinate_system_auth_name
        and b.coordinate_system_code = s.coordinate_system_code and b.coordinate_system_order = 2
      where s.auth_name = 'EPSG' and s.text_definition is null and (${what}) order by cast(s.code as integer)`,
    newer,
  ).map((row) => Number(row.c));
const northFirst = new Set(
  axisPairs(
    "projected_crs",
    "a.orientation = 'north' and b.orientation = 'east' or a.name like 'Northing%' and b.name like 'Easting%'",
  ),
);
// Ranges of codes: all projected systems in between are declared in the same order.
const ranges = [];
let isOpen = false;
for (const code of axisPairs("projected_crs", "1")) {
  if (!northFirst.has(code)) isOpen = false;
  else if (isOpen) ranges[ranges.length - 1][1] = code;
  else {
    ranges.push([code, code]);
    isOpen = true;
  }
}
write(
  "axis-order.ts",
  "northFirstLines",
  "EPSG codes of projected systems that declare the northing first: first|last",
  ranges,
);
