import type { WriteContext } from "../../../src/plugin/index.js";
import { dataViewOf } from "../../shared/text/data-view.js";
import type { Connection } from "../connection/connection.js";
import type { PostgisChunk } from "./encoder.js";
import type { TableDesign, WriteOptions } from "./table-design.js";
import type { TableName } from "./table-names.js";

/** What rows go into: a table that is made, or one that is there. */
export interface TableWriter {
  /** Makes ready for the first rows, which tell more than the layer. */
  begin(chunk: PostgisChunk | null): Promise<void>;
  /** Table and columns, as COPY takes them. */
  readonly target: string;
  /** Looks at rows before they are sent, and gives ids to those that have none. */
  note(chunk: PostgisChunk): void;
  /** All rows are there. */
  finish(): Promise<void>;
}

/** What every table is written with. */
export interface TableTask {
  readonly connection: Connection;
  /** The address, for messages. */
  readonly output: string;
  readonly name: TableName;
  readonly design: TableDesign;
  /** The schema of PostGIS; null where the database has none. */
  readonly postgis: string | null;
  /** Of the coordinates; 0 for none. */
  readonly srid: number;
  readonly options: WriteOptions;
  readonly context: WriteContext;
}

/** Puts ids where they are missing. */
export function fillIds({ bytes, missing }: PostgisChunk, type: "int32" | "int64", next: () => bigint): void {
  if (missing === null) return;
  const view = dataViewOf(bytes);
  for (const at of missing) {
    if (type === "int64") view.setBigInt64(at, next());
    else view.setInt32(at, Number(next()));
  }
}

/** How many values of each field had a zone, and how many had none. */
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
