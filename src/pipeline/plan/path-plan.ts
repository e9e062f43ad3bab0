/**
 * The paths that a conversion touches: what it reads, what it writes, what it replaces, and why one must not be written.
 * All is asked of one plan before a file is opened for writing. Parts that only a first reading shows extend it.
 */
import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { isWgs84 } from "../../crs/index.js";
import { createError, type GeoferryError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import {
  findCompanions,
  lstatOrNull,
  maxNameBytes,
  outputError,
  resolveSymlinks,
  shortenName,
} from "../../io/output/temporary-names.js";
import { windowsNameProblem } from "../../io/output/windows-names.js";
import { redact } from "../../io/redact.js";
import type { Crs } from "../../model/layer.js";
import type { Format } from "../../plugin/format.js";
import type { Registry } from "../../plugin/registry.js";
import type { ConvertRequest } from "../request.js";
import { splitExtension } from "./plan-outputs.js";

/** The files that the conversions of one run write, lest two write one: canonical names. */
export type OutputReservations = Pick<Set<string>, "has" | "add">;

/** A file that is to be written. */
interface PlannedWrite {
  readonly path: string;
  /** Where the links of its name lead. */
  readonly resolvedPath: string;
  /** The same in one way of writing it. */
  readonly key: string;
  readonly purpose: "output" | "rejects";
  /** Whether a file that is there may be replaced. */
  readonly mayReplace: boolean;
}

/** Why the file must not be written; null where the rule has nothing against it. */
type PathRule = (write: PlannedWrite, plan: PathPlan) => GeoferryError | null;

const pathExists = (path: string): boolean => lstatOrNull(path) !== null;

/** What stands beside a file under its name. Of a folder that is not there, or not to be listed, others speak. */
function filesBeside(file: string, extensions: readonly string[]): string[] {
  try {
    return findCompanions(file, extensions);
  } catch {
    return [];
  }
}

/** Names that differ only in case, or in how letters with accents are composed, are one name on many disks. */
function canonicalKey(file: string): string {
  const folder = dirname(file);
  const real = existsSync(folder) ? realpathSync(folder) : resolve(folder);
  return join(real, basename(file)).normalize("NFC").toLowerCase();
}

/** stdout, pipes and devices are written to, and nothing there is replaced. */
function isStream(path: string): boolean {
  if (path === "-") return true;
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isFile() && !stat.isDirectory();
}

/** Whether both are one file, by whatever names. */
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

const refuseInput: PathRule = ({ path, resolvedPath, purpose }, { inputFiles }) => {
  if (!inputFiles.some((read) => isSameFile(read, resolvedPath))) return null;
  if (purpose === "output") return createError("output-is-input", { output: path });
  return createError("usage", {
    reason: `${path}: is read, and the rejects would go there; name another file with --rejects`,
  });
};

/** A set must not replace what belongs to its input: `survey.csv` with its `survey.prj` into `survey.shp`. */
const refuseInputCompanion: PathRule = ({ path, resolvedPath, purpose }, { inputPaths, format }) => {
  // Of an output that is there the companions are its own.
  if (purpose !== "output" || !format.companionExtensions || pathExists(resolvedPath)) return null;
  const [stem] = splitExtension(resolve(path), format);
  const beside = inputPaths.some(
    (input) => resolve(input).slice(0, -extname(input).length) === stem && pathExists(input),
  );
  const taken = beside ? filesBeside(resolvedPath, format.companionExtensions)[0] : undefined;
  return taken === undefined ? null : createError("output-is-input", { output: taken });
};

const refuseDuplicate: PathRule = ({ path, key }, plan) => {
  if (!plan.isClaimed(key)) return null;
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
  refuseInputCompanion,
];

/** A table says its CRS in a .prj beside it, which may be that of a Shapefile of the same name. @throws usage */
function checkPrj(path: string, crs: Crs, { companionExtensions, reader }: Format): void {
  if (isWgs84(crs) || companionExtensions?.includes("prj") || !reader?.siblingExtensions?.includes("prj")) return;
  const [prj, shp] = ["prj", "shp"].map((extension) => filesBeside(resolveSymlinks(path), [extension])[0]);
  if (prj === undefined || shp === undefined) return;
  const reason = `${prj}: belongs to ${basename(shp)}, and ${path} needs one of its own to say ${crs.name}; write to another name`;
  throw createError("usage", { reason });
}

/** Whether files that are there may be replaced by the outputs. */
export const mayReplaceOutputs = (request: ConvertRequest, layers: "one" | "many"): boolean =>
  Boolean(request.overwrite || request.ifNewer || (request.replaceLayer && layers === "one"));

const rejectsSuffix = ".rejects.geojsonl";

function defaultRejectsPath(output: string): string {
  const name = basename(output);
  const short = shortenName(name, maxNameBytes - rejectsSuffix.length);
  return `${output.slice(0, output.length - name.length)}${short}${rejectsSuffix}`;
}

/** What a plan goes by besides the request. */
export interface PathPlanOptions {
  /** Of the output. */
  readonly format: Format;
  readonly registry: Registry;
  /** Whether files that are there may be replaced. */
  readonly mayReplace: boolean;
  /** Whether the named output may be there all the same: it is changed in place, or added to. */
  readonly changesInPlace: boolean;
  /** The output is an address, and rejects go into a file called after this, in the current folder. */
  readonly fileStem: string | null;
  /** What other conversions of the same run write. */
  readonly reservations: OutputReservations;
  /** See `Host`. */
  readonly originalPath?: (input: string) => string;
}

/** The inputs that are files, and what belongs to them: `roads.dbf` is read with `roads.shp`. */
function inputFiles(inputs: readonly string[], registry: Registry): string[] {
  const files = inputs.filter((input) => existsSync(input));
  return files.flatMap((file) => {
    const companions = registry.findByExtension(file).flatMap((format) => format.companionExtensions ?? []);
    return [file, ...filesBeside(file, companions)];
  });
}

export class PathPlan {
  /** As they may be told. */
  readonly inputNames: readonly string[];
  /** Where they stand. */
  readonly inputPaths: readonly string[];
  /** The files that are read. */
  readonly inputFiles: readonly string[];
  /** The output that was named, and whether there was a file of that name. */
  readonly outputName: string;
  readonly outputExisted: boolean;
  /** Null where rejected features go nowhere. */
  readonly rejectsPath: string | null;
  readonly format: Format;
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
    this.mayReplace = mayReplace;
    this.reservations = reservations;
    const { output, overwrite = false } = request;
    this.inputNames = request.inputs.map((input) => redact(input, registry));
    this.inputPaths = request.inputs.map(originalPath);
    this.inputFiles = inputFiles(this.inputPaths, registry);
    this.outputName = output;
    if (fileStem === null) this.add(output, "output", mayReplace || changesInPlace);
    this.outputExisted = fileStem === null && output !== "-" && pathExists(output);
    this.rejectsPath = request.rejects ?? (output === "-" ? null : defaultRejectsPath(fileStem ?? output));
    if (request.rejects !== undefined && resolve(request.rejects) === resolve(output))
      throw createError("usage", {
        reason: `${request.rejects}: is named as output and for --rejects; give two names`,
      });
    // The rejects of an earlier run beside the output are those of an output that is replaced, too.
    if (this.rejectsPath !== null) this.add(this.rejectsPath, "rejects", request.rejects === undefined || overwrite);
  }

  /** A part of the output beside the one that was named: of a layer, or of a kind of geometry. */
  addPart(path: string): void {
    if (path !== this.outputName) this.add(path, "output", this.mayReplace);
  }

  /** What an output will say of its CRS, once that is known. @throws usage */
  declareCrs(path: string, crs: Crs | null): void {
    if (crs !== null && !this.format.addresses && !isStream(path)) checkPrj(path, crs, this.format);
  }

  private add(path: string, purpose: PlannedWrite["purpose"], mayReplace: boolean): void {
    try {
      const resolvedPath = resolveSymlinks(path);
      const write: PlannedWrite = { path, resolvedPath, key: canonicalKey(resolvedPath), purpose, mayReplace };
      if (!refuseCircularLink(write, this) && isStream(path)) return;
      for (const rule of pathRules) {
        const refused = rule(write, this);
        if (refused) throw refused;
      }
      this.writes.push(write);
      this.reservations.add(write.key);
    } catch (error) {
      throw outputError(path, error);
    }
  }

  /** Whether another conversion, or this one, writes the file of this canonical name. */
  isClaimed(key: string): boolean {
    return this.reservations.has(key);
  }

  /** Whether the plan has this file as one that is written or read. */
  overlaps(path: string): boolean {
    const file = resolveSymlinks(path);
    return (
      this.writes.some((write) => canonicalKey(write.resolvedPath) === canonicalKey(file)) ||
      this.inputFiles.some((read) => isSameFile(read, file))
    );
  }
}
