/**
 * Data for the bench, made the same every time, in every format: points, long lines, polygons with a hole, points with
 * many columns, and points with much text.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { formats, ogrArguments } from "./ogr2ogr.mjs";

/** A small seeded generator (mulberry32): numbers from 0 to 1. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const places = ["Zürich", "São Paulo", "Łódź", "Reykjavík", "Oslo", "Kyiv", "Lima", "Nairobi"];

const day = (random) =>
  `20${String(10 + Math.floor(random() * 15))}-0${1 + Math.floor(random() * 9)}-1${Math.floor(random() * 10)}`;

function attributes(i, random) {
  return {
    name: `${places[Math.floor(random() * places.length)]} ${i}`,
    kind: ["residential", "industrial", "park", "water"][Math.floor(random() * 4)],
    count: Math.floor(random() * 1e6),
    share: Math.round(random() * 1e6) / 1e4,
    day: day(random),
  };
}

/** Forty columns of four types, of which a few have no value. */
function wideAttributes(i, random) {
  const row = {};
  for (let k = 0; k < 10; k++) {
    row[`count_${k}`] = Math.floor(random() * 1e6);
    row[`share_${k}`] = Math.round(random() * 1e6) / 1e4;
    row[`kind_${k}`] = random() < 0.1 ? null : `${places[Math.floor(random() * places.length)]} ${i % 100}`;
    row[`day_${k}`] = day(random);
  }
  return row;
}

/** With all that has to be escaped somewhere. */
const words = [
  "Straße",
  "naïve",
  "東京",
  'said "no"',
  "a, b",
  "<b>",
  "R&D",
  "first\nsecond",
  "плоский",
  "plain",
  "words",
];

/** Eight texts of up to 200 bytes, which is what a Shapefile can hold. */
function textAttributes(i, random) {
  const row = {};
  for (let k = 0; k < 8; k++) {
    let text = `${i}`;
    while (Buffer.byteLength(text) < 180 * random()) text += ` ${words[Math.floor(random() * words.length)]}`;
    row[`text_${k}`] = text;
  }
  return row;
}

/** How many features of each shape are measured, of which kind of geometry, with which attributes. */
export const shapes = {
  points: { count: 1_000_000, geometry: "points", attributes },
  lines: { count: 100_000, geometry: "lines", attributes },
  polygons: { count: 100_000, geometry: "polygons", attributes },
  wide: { count: 100_000, geometry: "points", attributes: wideAttributes },
  text: { count: 100_000, geometry: "points", attributes: textAttributes },
};

const degrees = (value) => Math.round(value * 1e7) / 1e7;

function walk(points, random) {
  let x = random() * 340 - 170;
  let y = random() * 160 - 80;
  const line = [];
  for (let k = 0; k < points; k++) {
    x += (random() - 0.5) / 100;
    y += (random() - 0.5) / 100;
    line.push([degrees(x), degrees(y)]);
  }
  return line;
}

function ring(x, y, radius, points, turn) {
  const positions = [];
  for (let k = 0; k < points; k++) {
    const angle = (turn * 2 * Math.PI * k) / points;
    positions.push([degrees(x + radius * Math.cos(angle)), degrees(y + radius * Math.sin(angle))]);
  }
  positions.push(positions[0]);
  return positions;
}

function geometry(shape, random) {
  if (shape === "points")
    return { type: "Point", coordinates: [degrees(random() * 360 - 180), degrees(random() * 180 - 90)] };
  if (shape === "lines") return { type: "LineString", coordinates: walk(100, random) };
  const x = random() * 340 - 170;
  const y = random() * 160 - 80;
  return { type: "Polygon", coordinates: [ring(x, y, 0.01, 36, 1), ring(x, y, 0.004, 12, -1)] };
}

const pair = ([x, y]) => `${x} ${y}`;
function wkt({ type, coordinates }) {
  if (type === "LineString") return `LINESTRING (${coordinates.map(pair).join(",")})`;
  return `POLYGON (${coordinates.map((positions) => `(${positions.map(pair).join(",")})`).join(",")})`;
}

/** RFC 4180. */
const cell = (value) => (/[",\n]/.test(value ?? "") ? `"${value.replaceAll('"', '""')}"` : (value ?? ""));

/** Writes `<stem>.csv` and `<stem>.geojson`. */
async function generate(stem, shape, count) {
  const random = generator(20260101);
  const { geometry: kind, attributes: row } = shapes[shape];
  const names = Object.keys(row(0, generator(1)));
  const csv = createWriteStream(`${stem}.csv`);
  const geojson = createWriteStream(`${stem}.geojson`);
  csv.write(`${[kind === "points" ? "lon,lat" : "wkt", ...names].join(",")}\n`);
  geojson.write('{"type":"FeatureCollection","features":[\n');
  for (let i = 0; i < count; i++) {
    const properties = row(i, random);
    const g = geometry(kind, random);
    const where = kind === "points" ? g.coordinates.join(",") : cell(wkt(g));
    const more = csv.write(`${where},${Object.values(properties).map(cell).join(",")}\n`);
    const moreToo = geojson.write(
      `${i === 0 ? "" : ",\n"}${JSON.stringify({ type: "Feature", properties, geometry: g })}`,
    );
    await Promise.all([more || once(csv, "drain"), moreToo || once(geojson, "drain")]);
  }
  geojson.write("\n]}\n");
  await Promise.all([once(csv.end(), "finish"), once(geojson.end(), "finish")]);
}

/** Has files made in a folder of their own and moves them to `folder` when they are whole: a bench may be interrupted. */
async function whole(folder, make) {
  const making = mkdtempSync(join(folder, "making-"));
  try {
    await make(making);
    for (const name of readdirSync(making)) renameSync(join(making, name), join(folder, name));
  } finally {
    rmSync(making, { recursive: true });
  }
}

/**
 * `<folder>/<shape>-<count>.<format>`, made where it is not there yet: CSV and GeoJSON here, the others by ogr2ogr from
 * the GeoJSON.
 * @returns its path
 */
export async function makeData(folder, shape, count, format) {
  mkdirSync(folder, { recursive: true });
  const stem = `${shape}-${count}`;
  const { extension, drivers } = formats[format];
  const path = join(folder, `${stem}.${extension}`);
  const geojson = join(folder, `${stem}.geojson`);
  if (!existsSync(geojson)) await whole(folder, (making) => generate(join(making, stem), shape, count));
  if (existsSync(path)) return path;
  await whole(folder, (making) => {
    const made = join(making, `${stem}.${extension}`);
    // LIBKML, the first of two, takes minutes to write what the other writes in seconds.
    const args = ogrArguments({ name: "GeoJSON" }, drivers.at(-1), shapes[shape].geometry, geojson, made);
    const { status } = spawnSync("ogr2ogr", args, { stdio: ["ignore", "ignore", "inherit"] });
    if (status !== 0)
      throw new Error("the bench needs ogr2ogr (Debian's gdal-bin) to make its data and to compare with");
  });
  return path;
}
