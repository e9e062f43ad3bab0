/** What a kernel does with a column; the numbers of `KernelColumn` in `plugins/shared/kernels/kernel-column.ts`. */
export enum ColumnKind {
  /** The column is passed over, or is the rowid of a SQLite table. */
  nothing,
  boolean,
  int32,
  int64,
  double,
  text,
  date,
  time,
  datetime,
  geometry,
  binary,
}
