/** The kind of a value, for placeholders in help and for completion. `name=value` stands for pairs. */
export type FlagValueKind =
  | "input-format"
  | "output-format"
  | "format"
  | "reader-option"
  | "writer-option"
  | "crs"
  | "layer"
  | "field"
  | "field=name"
  | "field=type"
  | "map"
  | "profile"
  | "grid"
  | "command"
  | "path";

/** A flag; its value is a string, or with `array` a list of strings. */
export interface Flag {
  readonly type: "string" | "boolean";
  readonly array?: boolean;
  readonly requiresArg?: boolean;
  /** Value of a flag that is given without one. */
  readonly bareValue?: string;
  readonly alias?: string;
  /** With true, the help shows the flag as `--no-…`, and `describe` says what that does. */
  readonly default?: boolean;
  readonly describe: string;
  readonly defaultDescription?: string;
  readonly demandOption?: boolean;
  /** The allowed values, or the kind of the value. Absent: any string or number. */
  readonly accepts?: readonly string[] | FlagValueKind;
  /** The value in the help, such as SECONDS; by default, `accepts` determines it. */
  readonly placeholder?: string;
  /** The value is a local path, not an address. */
  readonly isPath?: true;
  /** A path can be `-`, stdin or stdout. */
  readonly takesStdio?: true;
  /** Heading in the help. */
  readonly group?: string;
}

/** A flag with a value that the help shows as `placeholder`. */
export const takes = <const P extends string>(placeholder: P) =>
  ({ type: "string", requiresArg: true, placeholder }) as const;

/** The value of a limit: a number of features, or a percentage of them. */
export const takesLimit = takes("N|N%");

export function grouped<T extends Readonly<Record<string, Flag>>>(group: string, flags: T): T {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, group }])) as T;
}

export interface Positional {
  readonly type: "string";
  readonly array?: boolean;
  readonly describe: string;
  readonly demandOption?: boolean;
  /** As for a flag; absent: a path. */
  readonly accepts?: readonly string[] | FlagValueKind;
  /** The value is a local path, not an address. */
  readonly isPath?: true;
  /** A path can be `-`, stdin or stdout. */
  readonly takesStdio?: true;
}
