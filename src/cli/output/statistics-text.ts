/** The statistics of `geoferry info --stats` for people: a table of the fields, then details. */
import { escapeControlCharacters } from "../../escape-control-characters.js";
import { formatCount, groupDigits } from "../../format-count.js";
import type { FieldStatisticsReport, ReportedValue } from "../../statistics/field-report.js";
import type { StatisticsReport } from "../../statistics/statistics.js";
import { alignTable, cutText, type TableColumn } from "./aligned-table.js";
import { wrapped } from "./terminal.js";

const maxNameWidth = 30;
const maxValueWidth = 24;
const maxDetailWidth = 40;
const bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** A number of at most seven significant digits; digits of large ones in groups. */
function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isSafeInteger(value)) return groupSigned(value);
  const magnitude = Math.abs(value);
  if (magnitude >= 1e15 || magnitude < 1e-6) return String(Number(value.toPrecision(7)));
  const decimals = Math.max(0, Math.min(20, 6 - Math.floor(Math.log10(magnitude))));
  const rounded = Number(magnitude.toFixed(decimals));
  const [whole = "0", fraction] = rounded.toFixed(decimals).split(".");
  const kept = fraction?.replace(/0+$/, "") ?? "";
  return `${value < 0 ? "-" : ""}${groupDigits(Number(whole))}${kept === "" ? "" : `.${kept}`}`;
}

const groupSigned = (value: number): string => `${value < 0 ? "-" : ""}${groupDigits(Math.abs(value))}`;

const numericTypes = new Set(["int32", "int64", "double"]);

function formatValue(value: ReportedValue | null, type: FieldStatisticsReport["type"]): string {
  if (value === null) return "";
  if (typeof value === "number") return formatNumber(value);
  // Integers beyond 2^53.
  if (numericTypes.has(type)) return String(value).replace(/\B(?=(?:\d{3})+$)/g, ",");
  return escapeControlCharacters(String(value));
}

const formatDistinct = ({ distinct }: FieldStatisticsReport): string =>
  `${distinct.exact ? "" : "≈"}${groupDigits(distinct.count)}`;

/** @param columns of the terminal */
export function statisticsLines({ fields, geometry }: StatisticsReport, fieldCount: number, columns: number): string[] {
  const more = fieldCount - fields.length;
  return [
    ...(fields.length > 0 ? alignTable(fieldColumns(fields), columns - 4).lines.map((line) => `    ${line}`) : []),
    ...(more > 0 ? [`    … ${formatCount(more, "more field")}; --select chooses fields`] : []),
    "  geometries",
    ...geometryLines(geometry).map((line) => `    ${line}`),
    ...fields.flatMap((field) => fieldDetails(field, columns)),
  ];
}

function fieldColumns(fields: readonly FieldStatisticsReport[]): TableColumn[] {
  const column = (
    title: string,
    align: TableColumn["align"],
    cell: (field: FieldStatisticsReport) => string,
    isCut = false,
  ): TableColumn => ({ title, align, cells: fields.map(cell), isCut });
  const value = (cell: ReportedValue | null, type: FieldStatisticsReport["type"]) =>
    cutText(formatValue(cell, type), maxValueWidth);
  return [
    column("field", "left", ({ name }) => cutText(escapeControlCharacters(name), maxNameWidth), true),
    column("type", "left", ({ type }) => type),
    column("values", "right", ({ values }) => groupDigits(values)),
    column("nulls", "right", ({ nulls }) => groupDigits(nulls)),
    column("distinct", "right", formatDistinct),
    column("min", "left", ({ min, type }) => value(min, type), true),
    column("max", "left", ({ max, type }) => value(max, type), true),
    column("mean", "right", ({ mean }) => (mean === null ? "" : formatNumber(mean))),
  ];
}

function geometryLines(geometry: StatisticsReport["geometry"]): string[] {
  const { types, nulls, vertices, parts, holes, empty, duplicates, length, area, unmeasured } = geometry;
  const kinds = Object.entries(types).map(([type, count]) => `${type} ${groupDigits(count)}`);
  const lines: [string, string][] = [
    ["types", [...kinds, ...(nulls > 0 ? [`without geometry ${groupDigits(nulls)}`] : [])].join(", ") || "none"],
    [
      "vertices",
      `${groupDigits(vertices)} in ${formatCount(parts, "part")}${holes > 0 ? `, ${formatCount(holes, "hole")}` : ""}`,
    ],
  ];
  if (empty > 0) lines.push(["empty", groupDigits(empty)]);
  lines.push(["duplicates", `${duplicates.exact ? "" : "≈"}${groupDigits(duplicates.count)}`]);
  if (length !== null) lines.push(["length", `${formatNumber(length)} m`]);
  if (area !== null) lines.push(["area", `${formatNumber(area)} m²`]);
  if (unmeasured > 0) lines.push(["unmeasured", formatCount(unmeasured, "feature")]);
  return lines.map(([word, text]) => `${word.padEnd(10)}  ${text}`);
}

function fieldDetails(field: FieldStatisticsReport, columns: number): string[] {
  const { name, type, quantiles, histogram, min, max, frequent, longest, key, notFinite } = field;
  const details: [string, string][] = [];
  if (key !== "no")
    details.push([
      "key",
      key === "yes" ? "yes: no nulls, all different" : "probably: no nulls, all different in a sample",
    ]);
  if (quantiles) {
    const words = Object.entries(quantiles.values).map(([percent, value]) => `${percent} % ${formatNumber(value)}`);
    details.push(["quantiles", `${quantiles.exact ? "" : "≈ "}${words.join(", ")}`]);
  }
  if (histogram && min !== null && min !== max)
    details.push(["histogram", `${formatValue(min, type)} ${drawBars(histogram)} ${formatValue(max, type)}`]);
  if (notFinite > 0) details.push(["not finite", groupDigits(notFinite)]);
  if (frequent.values.length > 0 && key === "no") details.push(describeFrequent(field));
  if (longest) {
    const text = cutText(escapeControlCharacters(longest.text), maxDetailWidth);
    const bytes = longest.bytes === longest.characters ? "" : `, ${formatCount(longest.bytes, "byte")}`;
    details.push(["longest", `${text} (${formatCount(longest.characters, "character")}${bytes})`]);
  }
  if (details.length === 0) return [];
  return [
    `  ${cutText(escapeControlCharacters(name), columns - 2)}`,
    ...details.flatMap(([word, text]) =>
      wrapped(text, columns - 16).map((line, l) => `    ${(l === 0 ? word : "").padEnd(10)}  ${line}`),
    ),
  ];
}

function describeFrequent({ type, frequent: { values, exact, countError } }: FieldStatisticsReport): [string, string] {
  const isRepeated = values.some(({ count }) => count > 1);
  const words = values.map(({ value, count }) => {
    const text = cutText(formatValue(value, type), maxDetailWidth);
    return isRepeated ? `${text} (${groupDigits(count)})` : text;
  });
  const error = exact ? "" : `; counts may be up to ${groupDigits(countError)} greater`;
  return [isRepeated ? "frequent" : "all values", `${words.join(", ")}${error}`];
}

/** A bar for each range of the histogram; ranges with values are never blank. */
function drawBars(histogram: readonly number[]): string {
  const most = Math.max(...histogram);
  return histogram
    .map((count) => (count === 0 ? "·" : bars[Math.min(bars.length - 1, Math.floor((count / most) * bars.length))]))
    .join("");
}
