/**
 * The paths that a conversion reads, writes and replaces, and the rules about them. Everything is checked before a file is
 * opened for writing. Parts that only the scan shows are added later.
 */
import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { isWgs84 } from "../../crs/index.js";
import { createError, type GeoferryError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { isStream } from "../../io/output/create-sink.js";
import {
  lstatOrNull,
  maxNameBytes,
  outputError,
  resolveSymlinks,
  shortenName,
} from "../../io/output/temporary-names.js";
import { windowsNameProblem } from "../../io/output/windows-names.js";
import { redactEach } from "../../io/redact.js";
import type { Crs } from "../../model/layer.js";
import type { Format } from "../../plugin/format.js";
import type { Registry } from "../../plugin/registry.js";
import type { ConvertRequest, Host } from "../request.js";
import { canWriteRejects } from "../write/earlier-rejects.js";
import { filesBeside, mainFilesBeside, refuseForeignCompanion, refuseForeignPrj } from "./companion-owners.js";
import { isUpdatedInPlace } from "./in-place-update.js";
import { type ChosenWriter, splitExtension, zipOptions } from "./plan-outputs.js";

/** Canonical paths of the files that the conversions of one run write, so that no two write the same file. */
export type OutputReservations = Pick<Set<string>, "has" | "add">;

/** A file that the conversion will write. */
interface PlannedWrite {
  readonly path: string;
  /** The path with symbolic links resolved. */
  readonly resolvedPath: string;
  /** The canonical form of `resolvedPath`. */
  readonly key: string;
  readonly purpose: "output" | "rejects";
  /** Whether an existing file may be replaced. */
  readonly mayReplace: boolean;
}

/** Returns why the file must not be written, or null. */
type PathRule = (write: PlannedWrite, plan: PathPlan) => GeoferryError | null;

const pathExists = (path: string): boolean => lstatOrNull(path) !== null;

/** Lower case and composed, since names that differ only in case or composition are the same file on many file systems. */
function canonicalKey(file: string): string {
  const folder = dirname(file);
  const real = existsSync(folder) ? realpathSync(folder) : resolve(folder);
  return join(real, basename(file)).normalize("NFC").toLowerCase();
}

/** Whether both paths lead to the same file. */
function isSameFile(path: string, file: string): boolean {
  if (resolve(path) === resolve(file)) return true;
  const [one, other] = [path, file].map((path) => statSync(path, { throwIfNoEntry: false, bigint: true }));
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev;
}

const refuseWindowsName: PathRule = ({ path, purpose }) => {
  const problem = process.platform === "win32" ? windowsNameProblem(path) : null;
  if (problem === null) return null;
  return createError("usage", { reason: `${path}: ${problem}; choose another name for the ${purpose}` });
};

const refuseCircularLink: PathRule = ({ path, resolvedPath }) =>
  lstatSync(resolvedPath, { throwIfNoEntry: false })?.isSymbolicLink()
    ? createError("output-failed", { output: path, reason: describeSystemError({ code: "ELOOP" }) })
    : null;

const refuseExisting: PathRule = ({ path, resolvedPath, purpose, mayReplace }) =>
  !mayReplace && pathExists(resolvedPath) ? createError("output-exists", { output: path, use: purpose }) : null;

/** Only the rejects of an earlier run are replaced or removed without being named. */
const refuseForeignRejects: PathRule = ({ path, resolvedPath, purpose }) =>
  purpose === "rejects" && !canWriteRejects(resolvedPath)
    ? createError("output-exists", { output: path, use: "rejects" })
    : null;

const refuseInput: PathRule = ({ path, resolvedPath, purpose }, { inputFiles }) => {
  if (!inputFiles.some((read) => isSameFile(read, resolvedPath))) return null;
  if (purpose === "output") return createError("output-is-input", { output: path });
  return createError("usage", {
    reason: `${path}: --rejects names a file that is also an input; name another file`,
  });
};

/** A file set must not replace a companion of an input: `survey.csv` with its `survey.prj` into `survey.shp`. */
const refuseInputCompanion: PathRule = ({ path, resolvedPath, purpose }, { inputPaths, format }) => {
  // The companions of an existing output are its own.
  if (purpose !== "output" || !format.companionExtensions || pathExists(resolvedPath)) return null;
  if (zipOptions(path, format).zip) return null;
  const [stem] = splitExtension(resolve(path), format);
  const hasInputOfSameStem = inputPaths.some(
    (input) => resolve(input).slice(0, -extname(input).length) === stem && pathExists(input),
  );
  const companion = hasInputOfSameStem ? filesBeside(resolvedPath, format.companionExtensions)[0] : undefined;
  return companion === undefined ? null : createError("output-is-input", { output: companion });
};

/** An output must not take over or replace the companions of another dataset: `survey.tsv` beside `survey.csv` and `.prj`. */
const refuseForeign: PathRule = ({ path, resolvedPath, purpose }, { format, registry }) =>
  purpose === "output" ? refuseForeignCompanion(path, resolvedPath, pathExists(resolvedPath), format, registry) : null;

const refuseDuplicate: PathRule = ({ path, key }, plan) => {
  if (!plan.isReserved(key)) return null;
  return createError("output-collision", {
    output: path,
    inputs: [plan.inputNames.join(", "), "another input or layer"],
  });
};

const pathRules: readonly PathRule[] = [
  refuseWindowsName,
  refuseCircularLink,
  refuseDuplicate,
  refuseInput,
  refuseExisting,
  refuseForeignRejects,
  refuseInputCompanion,
  refuseForeign,
];

/** Whether the outputs may replace existing files. */
const mayReplaceOutputs = (request: ConvertRequest, layers: "one" | "many"): boolean =>
  Boolean(request.overwrite || request.ifNewer || (request.replaceLayer && layers === "one"));

/** The end of the name of rejects beside their output. */
export const rejectsSuffix = ".rejects.geojsonl";

function defaultRejectsPath(output: string): string {
  const name = basename(output);
  const short = shortenName(name, maxNameBytes - rejectsSuffix.length);
  return `${output.slice(0, output.length - name.length)}${short}${rejectsSuffix}`;
}

/** Everything that a path plan depends on besides the request. */
export interface PathPlanOptions {
  /** Format of the output. */
  readonly format: Format;
  readonly registry: Registry;
  /** Whether existing files may be replaced. */
  readonly mayReplace: boolean;
  /** Whether the output may exist because it is changed in place or appended to. */
  readonly changesInPlace: boolean;
  /** If the output is an address: the stem of the rejects file, which goes into the working directory. */
  readonly fileStem: string | null;
  /** The files of the other conversions of the run. */
  readonly reservations: OutputReservations;
  /** See `Host`. */
  readonly originalPath?: (input: string) => string;
}

/** The input files and what is read with them: `roads.dbf` is read with `roads.shp`, whichever of them is named. */
function inputFiles(inputs: readonly string[], registry: Registry): string[] {
  const files = inputs.filter((input) => existsSync(input));
  return files.flatMap((file) => {
    const mains = registry.findByCompanion(file).flatMap((format) => mainFilesBeside(file, format));
    return [file, ...mains].flatMap((main) => {
      const companions = registry.findByExtension(main).flatMap((format) => format.companionExtensions ?? []);
      return [main, ...filesBeside(main, companions)];
    });
  });
}

/** Refuses an output that would replace an input or a companion of one. @throws output-is-input */
export function refuseInputAsOutput(output: string, inputs: readonly string[], registry: Registry): void {
  if (inputFiles(inputs, registry).some((read) => isSameFile(read, output)))
    throw createError("output-is-input", { output });
}

export class PathPlan {
  /** For messages, without credentials. */
  readonly inputNames: readonly string[];
  /** The original paths of the inputs. */
  readonly inputPaths: readonly string[];
  /** The files that are read, including companions. */
  readonly inputFiles: readonly string[];
  /** The requested output, and whether it existed before. */
  readonly outputName: string;
  readonly outputExisted: boolean;
  /** Null if rejected features are not written. */
  readonly rejectsPath: string | null;
  readonly format: Format;
  readonly registry: Registry;
  readonly mayReplace: boolean;
  private readonly reservations: OutputReservations;
  private readonly writes: PlannedWrite[] = [];

  /** @throws output-exists, output-is-input, output-collision, output-failed, usage */
  constructor(request: ConvertRequest, rules: PathPlanOptions) {
    const {
      format,
      registry,
      mayReplace,
      changesInPlace,
      reservations,
      fileStem,
      originalPath = (input) => input,
    } = rules;
    this.format = format;
    this.registry = registry;
    this.mayReplace = mayReplace;
    this.reservations = reservations;
    const { output, overwrite = false } = request;
    this.inputNames = redactEach(request.inputs, registry);
    this.inputPaths = request.inputs.map(originalPath);
    this.inputFiles = inputFiles(this.inputPaths, registry);
    this.outputName = output;
    if (fileStem === null) this.add(output, "output", mayReplace || changesInPlace);
    this.outputExisted = fileStem === null && output !== "-" && pathExists(output);
    this.rejectsPath = request.rejects ?? (output === "-" ? null : defaultRejectsPath(fileStem ?? output));
    if (request.rejects !== undefined && resolve(request.rejects) === resolve(output))
      throw createError("usage", {
        reason: `${request.rejects}: --rejects names the output itself; name another file`,
      });
    // The default rejects file of an earlier run is replaced like the output that it belongs to.
    if (this.rejectsPath !== null) this.add(this.rejectsPath, "rejects", request.rejects === undefined || overwrite);
  }

  /** Adds a further output file, for a layer or a geometry type. */
  addPart(path: string): void {
    if (path !== this.outputName) this.add(path, "output", this.mayReplace);
  }

  /** Checks the .prj file of an output, once its CRS is known. @throws usage */
  declareCrs(path: string, crs: Crs | null): void {
    if (crs === null || isWgs84(crs) || this.format.addresses || isStream(path)) return;
    const error = refuseForeignPrj(path, resolveSymlinks(path), crs.name, this.format, this.registry);
    if (error) throw error;
  }

  private add(path: string, purpose: PlannedWrite["purpose"], mayReplace: boolean): void {
    try {
      const resolvedPath = resolveSymlinks(path);
      const write: PlannedWrite = { path, resolvedPath, key: canonicalKey(resolvedPath), purpose, mayReplace };
      if (!refuseCircularLink(write, this) && isStream(path)) return;
      for (const rule of pathRules) {
        const error = rule(write, this);
        if (error) throw error;
      }
      this.writes.push(write);
      this.reservations.add(write.key);
    } catch (error) {
      throw outputError(path, error);
    }
  }

  /** Whether this or another conversion of the run writes the file with this canonical path. */
  isReserved(key: string): boolean {
    return this.reservations.has(key);
  }

  /** Whether the conversion reads or writes this file. */
  overlaps(path: string): boolean {
    const file = resolveSymlinks(path);
    return (
      this.writes.some((write) => canonicalKey(write.resolvedPath) === canonicalKey(file)) ||
      this.inputFiles.some((read) => isSameFile(read, file))
    );
  }
}

/** Plans the paths of a conversion. @throws output-exists, output-is-input, output-collision, output-failed, usage */
export function planPaths(
  request: ConvertRequest,
  host: Host,
  writer: ChosenWriter,
  reservations: OutputReservations,
): PathPlan {
  return new PathPlan(request, {
    format: writer.format,
    registry: host.registry,
    mayReplace: mayReplaceOutputs(request, writer.capabilities.layers),
    changesInPlace: request.append === true || isUpdatedInPlace(request, writer),
    reservations,
    fileStem: writer.fileStem,
    ...(host.originalPath ? { originalPath: host.originalPath } : {}),
  });
}
