import { type GeometryColumn, Kind, positionRange } from "../../../src/model/index.js";
import type { WriteContext } from "../../../src/plugin/index.js";
import { reportCoordinateLosses, reportMissingCoordinates } from "../../shared/coordinate-losses.js";
import { WkbWriter } from "../../shared/wkb/index.js";
import type { RowWriter } from "./row-writer.js";
import type { TableDesign } from "./table-design.js";

/** Whether all coordinates of feature `i` and its members are finite. */
function isFiniteGeometry(column: GeometryColumn, i: number): boolean {
  if (!column.boxes || column.members) {
    const [from, to] = positionRange(column, i);
    const { xy } = column;
    let sum = 0;
    // x - x is 0 unless x is NaN or infinite.
    for (let k = 2 * from; k < 2 * to; k++) sum += xy[k]! - xy[k]!;
    if (sum !== 0) return false;
  }
  const { members, memberOffsets } = column;
  if (!members || !memberOffsets) return true;
  for (let k = memberOffsets[i]!; k < memberOffsets[i + 1]!; k++) if (!isFiniteGeometry(members, k)) return false;
  return true;
}

/** Writes geometries as WKB with the dimensions of the table. The column type provides the SRID. */
export class GeometryEncoder {
  private readonly wkb = new WkbWriter();
  private notFinite = 0;

  constructor(
    private readonly dimensions: NonNullable<TableDesign["geometry"]>,
    private readonly context: WriteContext,
  ) {}

  write(column: GeometryColumn, i: number, rows: RowWriter): void {
    if (column.kinds[i] === Kind.none) rows.none();
    else if (!isFiniteGeometry(column, i)) {
      this.notFinite++;
      rows.none();
    } else {
      const bytes = this.wkb.write(column, i, 0, this.dimensions);
      rows.bytes(bytes, 0, bytes.length);
    }
  }

  reportLosses(): void {
    reportMissingCoordinates(this.wkb, this.context);
    reportCoordinateLosses({ notFinite: this.notFinite }, this.context);
    this.notFinite = 0;
  }
}
