import type { WriteContext } from "../../../src/plugin/index.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import type { Connection } from "../connection/connection.js";
import type { PostgisChunk } from "./encoder.js";
import type { TableDesign, WriteOptions } from "./table-design.js";
import type { TableName } from "./table-names.js";

/** Writes rows to a new or an existing table. */
export interface TableWriter {
  /** Prepares the table; the first rows determine types of datetime columns. */
  begin(chunk: PostgisChunk | null): Promise<void>;
  /** Table and columns for COPY. */
  readonly target: string;
  /** Collects statistics of rows before they are sent, and fills in missing ids. */
  beforeCopy(chunk: PostgisChunk): void;
  /** Called after all rows were sent. */
  finish(): Promise<void>;
}

export interface TableTask {
  readonly connection: Connection;
  /** Address for messages. */
  readonly output: string;
  readonly name: TableName;
  readonly design: TableDesign;
  /** Schema of PostGIS; null if it is not installed. */
  readonly postgis: string | null;
  /** SRID of the geometries; 0 for none. */
  readonly srid: number;
  readonly options: WriteOptions;
  readonly context: WriteContext;
}

export function fillIds({ bytes, missing }: PostgisChunk, type: "int32" | "int64", next: () => bigint): void {
  if (missing === null) return;
  const view = dataViewOf(bytes);
  for (const at of missing) {
    if (type === "int64") view.setBigInt64(at, next());
    else view.setInt32(at, Number(next()));
  }
}

/** Counts values with and without a zone, by field. */
export class ZoneTally {
  readonly zoned: number[];
  readonly unzoned: number[];

  constructor(count: number) {
    this.zoned = new Array<number>(count).fill(0);
    this.unzoned = new Array<number>(count).fill(0);
  }

  add({ zoned, unzoned }: PostgisChunk): void {
    for (let f = 0; f < zoned.length; f++) {
      this.zoned[f]! += zoned[f]!;
      this.unzoned[f]! += unzoned[f]!;
    }
  }
}

export const zoneAssumedMessage = "a time without a zone was written as UTC";
