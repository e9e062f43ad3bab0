/** What a command accepts: flags, and arguments without one. */

/**
 * What a value names: help shows it in capitals, completion offers what there is of it. `name=value` stands for pairs.
 */
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

/** A flag; its value is text or, where `array`, all the texts given. */
export interface Flag {
  readonly type: "string" | "boolean";
  readonly array?: boolean;
  readonly requiresArg?: boolean;
  /** Its value where it is given without one. */
  readonly bareValue?: string;
  readonly alias?: string;
  readonly default?: boolean;
  readonly describe: string;
  readonly defaultDescription?: string;
  readonly demandOption?: boolean;
  /** What its value can be: one of these, or the name of something. Absent: any text, or a number. */
  readonly accepts?: readonly string[] | FlagValueKind;
  /** Its value names files or folders of this machine, and no address. */
  readonly isPath?: true;
  /** The heading that it stands under in the help of a command with many flags. */
  readonly group?: string;
}

/** The flags under a heading of their own. */
export function grouped<T extends Readonly<Record<string, Flag>>>(group: string, flags: T): T {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, group }])) as T;
}

export interface Positional {
  readonly type: "string";
  readonly array?: boolean;
  readonly describe: string;
  readonly demandOption?: boolean;
  /** As of a flag; absent: a path. */
  readonly accepts?: readonly string[] | FlagValueKind;
  /** Its value names files or folders of this machine, and no address. */
  readonly isPath?: true;
}
