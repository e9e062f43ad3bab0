/** Names of SQLite's primary result codes (https://www.sqlite.org/rescode.html). */
const primaryCodes: Readonly<Record<number, string>> = {
  1: "ERROR",
  2: "INTERNAL",
  3: "PERM",
  4: "ABORT",
  5: "BUSY",
  6: "LOCKED",
  7: "NOMEM",
  8: "READONLY",
  9: "INTERRUPT",
  10: "IOERR",
  11: "CORRUPT",
  12: "NOTFOUND",
  13: "FULL",
  14: "CANTOPEN",
  15: "PROTOCOL",
  17: "SCHEMA",
  18: "TOOBIG",
  19: "CONSTRAINT",
  20: "MISMATCH",
  21: "MISUSE",
  22: "NOLFS",
  23: "AUTH",
  25: "RANGE",
  26: "NOTADB",
};

/** Names of the extended codes that geoferry distinguishes; others get the name of their primary code. */
const extendedCodes: Readonly<Record<number, string>> = {
  261: "BUSY_RECOVERY",
  517: "BUSY_SNAPSHOT",
  787: "CONSTRAINT_FOREIGNKEY",
  1299: "CONSTRAINT_NOTNULL",
  1555: "CONSTRAINT_PRIMARYKEY",
  2067: "CONSTRAINT_UNIQUE",
  2579: "CONSTRAINT_ROWID",
};

/** The name of an extended result code: `SQLITE_CONSTRAINT_UNIQUE`. */
export const resultCodeName = (code: number): string =>
  `SQLITE_${extendedCodes[code] ?? primaryCodes[code & 0xff] ?? "ERROR"}`;
