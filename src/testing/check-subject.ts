import type { FieldType } from "../model/field.js";
import type { Geometry, GeometryType } from "../model/geometry.js";
import type { Format, WriterCapabilities } from "../plugin/format.js";
import { parseOptions } from "../plugin/options.js";
import type { ComparisonRules } from "./compare-batches.js";
import { TemporaryFolder } from "./temporary-folder.js";

/** A file of the format, and what is known to be in it. */
export interface Sample {
  readonly path: string;
  /** Reader options that it takes, as on the command line after `--in`. */
  readonly options?: Readonly<Record<string, string>>;
  /** Its layers in order. What is left out is not looked at. */
  readonly layers?: readonly {
    readonly name?: string;
    readonly features?: number;
    readonly rejects?: number;
    /** Every geometry type that occurs, and no other; null geometries do not count. */
    readonly geometryTypes?: readonly GeometryType[];
    /** The fields by name, with their types. */
    readonly fields?: Readonly<Record<string, FieldType>>;
  }[];
}

export interface CheckOptions {
  /** What makes a test: `test` of `node:test`, of vitest, or anything of that shape. */
  readonly test: (name: string, run: () => Promise<void>) => void;
  /** Files of the format. A format without a writer needs at least one; small ones are damaged, too. */
  readonly samples?: readonly Sample[];
  /** Options for reading and writing in all checks, as on the command line after `--in` and `--out`. */
  readonly readerOptions?: Readonly<Record<string, string>>;
  readonly writerOptions?: Readonly<Record<string, string>>;
  /** Greatest difference of a coordinate after writing and reading, in degrees. 0: none. */
  readonly tolerance?: number;
  /** Field types that must come back as the same type. Of others only what they say counts: a date may come back as text. */
  readonly keepsTypes?: readonly FieldType[];
  /**
   * For formats whose files group features by kind, regardless of the order of writing: the number of the group of a
   * feature.
   */
  readonly groupOf?: (geometry: Geometry | null) => number;
  /** Damaged copies that are made of each file. 40. */
  readonly mutations?: number;
  /** Milliseconds that reading one small file may take. 10,000. */
  readonly timeLimit?: number;
  /** Other damage, other garbage: a run with another seed looks elsewhere. 1. */
  readonly seed?: number;
}

/** A format under test, with all that its checks have in common. */
export interface CheckSubject {
  readonly format: Format;
  readonly samples: readonly Sample[];
  readonly readerOptions: Readonly<Record<string, string>>;
  readonly writerOptions: Readonly<Record<string, string>>;
  readonly tolerance: number;
  readonly keepsTypes: readonly FieldType[];
  readonly groupOf: ((geometry: Geometry | null) => number) | null;
  readonly mutations: number;
  readonly timeLimit: number;
  readonly seed: number;
  /** Declares a test; the format's id goes before its name. */
  check(name: string, run: () => Promise<void>): void;
}

export function createSubject(format: Format, options: CheckOptions): CheckSubject {
  return {
    format,
    samples: options.samples ?? [],
    readerOptions: options.readerOptions ?? {},
    writerOptions: options.writerOptions ?? {},
    tolerance: options.tolerance ?? 0,
    keepsTypes: options.keepsTypes ?? [],
    groupOf: options.groupOf ?? null,
    mutations: options.mutations ?? 40,
    timeLimit: options.timeLimit ?? 10_000,
    seed: options.seed ?? 1,
    check: (name, run) => options.test(`${format.id}: ${name}`, run),
  };
}

/** What the writer holds with the options of the checks. */
export function capabilitiesOf(subject: CheckSubject): WriterCapabilities {
  const { format, writerOptions } = subject;
  return format.writer!.capabilities(parseOptions(format.id, format.writer!.options, writerOptions));
}

/** What must come back exactly, by what the format says of itself. */
export function comparisonRulesFor(
  subject: CheckSubject,
  accepts: WriterCapabilities,
  declaresFields: boolean,
): ComparisonRules {
  return {
    tolerance: subject.tolerance,
    singleIsMulti: accepts.families !== undefined,
    absentIsNull: declaresFields,
    ids: typeof accepts.ids === "object" ? "given" : accepts.ids === true,
    keepsTypes: subject.keepsTypes,
  };
}

export async function withTemporaryFolder(run: (scratch: TemporaryFolder) => Promise<void>): Promise<void> {
  const scratch = new TemporaryFolder();
  try {
    await run(scratch);
  } finally {
    scratch.remove();
  }
}
