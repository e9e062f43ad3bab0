/** The first features of a layer, for `geoferry info --head`: a table, or with `--json` a record for each feature. */
import { escapeControlCharacters } from "../../escape-control-characters.js";
import { formatCount } from "../../format-count.js";
import { type Column, jsonValueAt } from "../../model/column.js";
import { geometryAt } from "../../model/geometry.js";
import type { Batch, Geometry, Position } from "../../model/index.js";
import type { LayerHead } from "../../pipeline/head.js";
import { alignTable, cutText, type TableColumn } from "./aligned-table.js";

const maxCellWidth = 40;
/** Positions of a geometry that are shown. */
const maxPositions = 3;

/** @param columns of the terminal */
export function headText(head: LayerHead, columns: number): string {
  const { input, layer, format, crs, batches } = head;
  const rows = batches.flatMap((batch) => Array.from({ length: batch.length }, (_, row) => ({ batch, row })));
  const name = crs === null ? "unknown" : (crs.id ?? crs.name);
  const title = escapeControlCharacters(`${input}: ${layer} (${format}), crs ${name}`);
  if (rows.length === 0) return `${title}\n  no features\n`;
  const { lines, left } = alignTable(tableColumns(rows), columns - 2);
  const more = left === 0 ? "" : `  … ${formatCount(left, "more column")}; --select chooses fields, --json has all\n`;
  return `${title}\n${lines.map((line) => `  ${line}\n`).join("")}${more}`;
}

interface Row {
  readonly batch: Batch;
  readonly row: number;
}

function tableColumns(rows: readonly Row[]): TableColumn[] {
  const names = new Set(rows.flatMap(({ batch }) => batch.fields.map(({ name }) => name)));
  const readCell = (name: string, { batch, row }: Row): readonly [Column, unknown] | null => {
    const at = batch.fields.findIndex((field) => field.name === name);
    return at < 0 ? null : [batch.columns[at]!, jsonValueAt(batch.columns[at]!, row)];
  };
  const fields = [...names].map((name): TableColumn => {
    const values = rows.map((row) => readCell(name, row));
    const isNumber = values.some((value) => typeof value?.[1] === "number");
    const cells = values.map((value) => cutText(cellText(value?.[1] ?? null), maxCellWidth));
    return {
      title: cutText(escapeControlCharacters(name), maxCellWidth),
      align: isNumber ? "right" : "left",
      cells,
      isCut: !isNumber,
    };
  });
  return [
    { title: "#", align: "right", cells: rows.map((_, r) => String(r + 1)), isCut: false },
    {
      title: "geometry",
      align: "left",
      cells: rows.map(({ batch, row }) => cutText(shortWkt(geometryAt(batch.geometry, row)), maxCellWidth)),
      isCut: true,
    },
    ...fields,
  ];
}

function cellText(value: unknown): string {
  if (value === null) return "";
  return escapeControlCharacters(typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** WKT with the first positions only: "LINESTRING (13.4 52.5, 13.41 52.51, …)". */
export function shortWkt(geometry: Geometry | null): string {
  if (geometry === null) return "";
  const word = geometry.type.toUpperCase();
  if (geometry.type === "GeometryCollection")
    return geometry.geometries.length === 0
      ? `${word} EMPTY`
      : `${word} (${shortWkt(geometry.geometries[0]!)}${geometry.geometries.length > 1 ? ", …" : ""})`;
  if (geometry.coordinates.length === 0) return `${word} EMPTY`;
  if (geometry.type === "Point") return `${word} (${positionText(geometry.coordinates)})`;
  return `${word} ${listText(geometry.coordinates)}`;
}

type Nested = Position | readonly Nested[];

const positionText = (position: Position): string => position.map((number) => Number(number.toFixed(7))).join(" ");

function listText(list: readonly Nested[]): string {
  const isPositions = typeof (list[0] as readonly unknown[] | undefined)?.[0] === "number";
  const most = isPositions ? maxPositions : 1;
  const shown = list
    .slice(0, most)
    .map((one) => (isPositions ? positionText(one as Position) : listText(one as readonly Nested[])));
  return `(${shown.join(", ")}${list.length > most ? ", …" : ""})`;
}

/** A record for each feature, in the coordinates of the source. */
export function headRecords({ input, layer, crs, batches }: LayerHead): string {
  let text = "";
  for (const batch of batches) {
    for (let row = 0; row < batch.length; row++) {
      const name = crs === null ? null : (crs.id ?? crs.name);
      text += `${JSON.stringify({ type: "feature", input, layer, crs: name, feature: batch.featureAt(row) })}\n`;
    }
  }
  return text;
}
