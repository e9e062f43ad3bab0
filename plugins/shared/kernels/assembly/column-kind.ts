/** What a kernel does with a column of a SQLite table; the numbers of `plugins/geopackage/read/kernel-columns.ts`. */
export enum ColumnKind {
  /** The column is passed over, or is the rowid. */
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
