import type { RowSpool } from "./row-spool.js";

/** Content of a sheet that has no place in a layer, by what it is: `3 comments`. */
export interface SheetExtras {
  merged: number;
  hiddenRows: number;
  links: number;
  comments: number;
  drawings: number;
  /** Ranges of columns, counted from 0; `to` is not included. */
  readonly hiddenColumns: { readonly from: number; readonly to: number }[];
}

export const noExtras = (): SheetExtras => ({
  merged: 0,
  hiddenRows: 0,
  links: 0,
  comments: 0,
  drawings: 0,
  hiddenColumns: [],
});

/** A sheet whose rows were spooled. */
export interface SpooledSheet {
  readonly name: string;
  readonly isHidden: boolean;
  readonly rows: RowSpool;
  readonly bytes: number;
  readonly extras: SheetExtras;
  /** The definition of its reference system, as this program writes it; null if there is none. */
  readonly crs: string | null;
}

/** The code of cells that have an error in place of a value. */
export const errorCell = "cell-error";
/** The code of formulas whose value the file does not have. */
export const uncalculatedCell = "formula-uncalculated";
export const uncalculatedExample =
  "a formula without a stored result; open the file in a spreadsheet program and save it";

export interface SpoolSettings {
  readonly readsHidden: boolean;
  /** Begins a sheet. */
  createRows(): RowSpool;
}
