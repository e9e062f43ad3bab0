import type { FieldType } from "../../../src/model/field.js";

/** Writes the cells of rows as XML. Columns count from 0 and come in order; missing cells are empty. */
export interface CellWriter {
  beginRow(): void;
  /** A double in its shortest exact form. @param isDouble with a decimal point, so that it reads back as a double */
  number(column: number, values: Float64Array, at: number, isDouble: boolean): void;
  integer(column: number, value: number): void;
  boolean(column: number, value: boolean): void;
  /** Text in UTF-8; empty text is a cell of its own. @param field for reports */
  text(column: number, bytes: Uint8Array, from: number, to: number, field: string): void;
  /** A date, time or datetime in canonical form. */
  temporal(column: number, type: TemporalType, bytes: Uint8Array, from: number, to: number, field: string): void;
  endRow(): void;
  /** Returns what was written, and begins again. */
  finish(): Uint8Array<ArrayBuffer>;
}

export type TemporalType = Extract<FieldType, "date" | "time" | "datetime">;
