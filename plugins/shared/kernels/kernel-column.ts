/** What a kernel does with a column; the numbers of `ColumnKind` in `plugins/shared/kernels/assembly/column-kind.ts`. */
export const KernelColumn = {
  nothing: 0,
  boolean: 1,
  int32: 2,
  int64: 3,
  double: 4,
  text: 5,
  date: 6,
  time: 7,
  datetime: 8,
  geometry: 9,
  binary: 10,
} as const;
