/** Chooses the geometry of a table: by options, else by its `.csvt`, else by names and content (`detectGeometry`). */
import type { Crs } from "../../../../src/model/layer.js";
import type { ReadContext } from "../../../../src/plugin/format.js";
import type { FormatRules } from "../columns/column-format.js";
import type { CsvtColumnType } from "../columns/csvt.js";
import type { ColumnSamples } from "../columns/samples.js";
import type { DetectedDialect } from "../header/detect-dialect.js";
import { detectIgnoredHeader } from "../header/find-header.js";
import { createColumnSampler, type Notices } from "../header/first-record.js";
import type { TableOptions } from "../options.js";
import type { RecordScanner } from "../records/record-scanner.js";
import { addLetterO, detectGeometry, type GeometryDetection, type GeometryWithNumbers } from "./detect-geometry.js";
import { findColumn } from "./geometry-columns.js";
import { positionNotice, unusedGeometryColumn } from "./position-notice.js";

/** What is known of a table before its rows are scanned. */
export interface TableStart {
  readonly source: string;
  readonly dialect: DetectedDialect;
  readonly names: readonly string[];
  readonly hasHeader: boolean;
  readonly samples: ColumnSamples;
  /** The types that the `.csvt` declares. */
  readonly declared: readonly (CsvtColumnType | null)[];
  /** The rules of cells that are text. */
  readonly textRules: FormatRules;
  /** The CRS that the caller or the `.prj` sets. */
  readonly crs: Crs | null;
}

/** Columns that a `.csvt` declares as geometry, unless an option overrides it. */
function geometryFromCsvt(
  declared: readonly (CsvtColumnType | null)[],
  options: TableOptions,
  decimal: number,
  findColumn: (name: string) => number,
): GeometryWithNumbers | null {
  if (options.geometry !== undefined || options.x !== undefined || options.y !== undefined) return null;
  const [x, y, z, column] = (["x", "y", "z", "wkt"] as const).map((word) => declared.indexOf(word));
  if (column! >= 0) return { kind: "text", column: column! };
  if (x! < 0 || y! < 0) return null;
  const height = options.z === undefined ? (z! >= 0 ? z! : null) : findColumn(options.z);
  return { kind: "xy", x: x!, y: y!, z: height, numbers: { decimal, group: null } };
}

/** Whether there is no geometry and no notice about columns that may hold one. */
const isSilentlyWithoutGeometry = ({ plan, candidates, notices }: GeometryDetection): boolean =>
  plan.kind === "none" && candidates.length === 0 && notices.length === 0;

/** @throws field-missing, option-invalid */
export async function chooseGeometry(
  { source, dialect, names, hasHeader, samples, declared, textRules, crs }: TableStart,
  scanner: RecordScanner,
  options: TableOptions,
  context: ReadContext,
): Promise<GeometryDetection> {
  const { head, headAfterSkippedLines, foundHeader, delimiter, decimal } = dialect;
  const table = { source, names, samples, cellsOf: createColumnSampler(head, scanner, hasHeader), decimal, crs };
  const csvtGeometry = geometryFromCsvt(declared, options, decimal, (name) => findColumn(table, name));
  const detection: GeometryDetection = csvtGeometry
    ? { plan: addLetterO(csvtGeometry, table, options), notices: [], candidates: [] }
    : await detectGeometry(table, options, textRules, context);
  const notices: Notices = [...detection.notices];
  const pairs = positionNotice(detection.plan, names, samples, options.geometry !== undefined);
  if (pairs) notices.push(pairs);
  else if (isSilentlyWithoutGeometry(detection) && options.geometry === undefined) {
    const unused =
      unusedGeometryColumn(names, samples) ??
      (foundHeader
        ? null
        : detectIgnoredHeader(headAfterSkippedLines, delimiter, hasHeader, options.cells === "typed"));
    if (unused) notices.push(unused);
  }
  return { ...detection, notices };
}
