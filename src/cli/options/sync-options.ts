/** Flags of commands that compare an input with a map, and the requests they become. */
import { createError } from "../../errors.js";
import { omitUndefined } from "../../pipeline/request.js";
import type { DedupeRequest } from "../../sync/diff/dedupe.js";
import type { RestoreRequest } from "../../sync/plan/plan-restore.js";
import {
  defaultSyncSettings,
  type Limit,
  parseLimit,
  parseScope,
  type SourceRequest,
  type SyncMode,
  type SyncRequest,
  syncModes,
} from "../../sync/request.js";
import { oneOf, wholeNumber } from "../parse/values.js";
import { mapInputOptions } from "../run/map-inputs.js";
import { type Flag, grouped, takes, takesLimit } from "./flag.js";
import { networkOptions } from "./network-options.js";
import { serviceOptions } from "./service-options.js";
import {
  file,
  flag,
  folder,
  readingOptions,
  rejectOptions,
  type SourceArguments,
  shapingOptions,
  sourceRequestOf,
  text,
} from "./source-options.js";

export interface SyncArguments extends SourceArguments {
  readonly inputs: readonly string[];
  readonly map: string;
  readonly mode?: string;
  readonly remoteField?: string;
  readonly match?: string;
  readonly scope?: string;
  readonly precision?: string;
  readonly replaceProperties?: boolean;
  readonly keepUnmanaged?: boolean;
  readonly deleteUnmanaged?: boolean;
  readonly deleteExcluded?: boolean;
  readonly updateWith?: string;
  readonly onDuplicate?: string;
  readonly onMissingKey?: string;
  readonly singleRead?: boolean;
  readonly settleTime?: string;
  readonly conflictRetries?: string;
  readonly maxDelete?: string;
  readonly maxUpdate?: string;
  readonly allowNullGeometry?: boolean;
  readonly state?: string;
}

export const mapOption = {
  map: {
    ...text,
    accepts: "map",
    describe: "Id of the map, or its name if unique",
    demandOption: true,
  },
} as const;

export const matchingOptions = grouped("Matching:", {
  "remote-field": {
    ...text,
    accepts: "field",
    describe: "Property that identifies a feature on both sides; auto picks the best one and shows it",
    defaultDescription: "auto",
  },
  match: { ...text, accepts: ["id"], describe: "Match features by the service's ids, as written by pull" },
  scope: {
    ...takes("PROPERTY=VALUE"),
    describe: "Compare only features with this property value, on both sides: source=cadastre",
  },
  "on-duplicate": {
    ...text,
    accepts: ["first", "last"],
    describe: "Feature to use if several of INPUT have the same key: first or last",
  },
  "on-missing-key": {
    ...text,
    accepts: ["reject"],
    describe: "Write features without a key to the rejects file instead of failing",
  },
});

export const comparingOptions = grouped("Comparison:", {
  precision: { ...takes("N"), describe: "Decimals of longitude and latitude to compare", defaultDescription: "7" },
  "replace-properties": { ...flag, describe: "Delete properties that only the map has" },
  "single-read": mapInputOptions["single-read"],
});

const ofGuards = "Safety:";

/** Limits on changes to the map. */
export const guardOptions = grouped(ofGuards, {
  "keep-unmanaged": { ...flag, describe: "In full mode, keep map features without a key" },
  "delete-unmanaged": { ...flag, describe: "In full mode, delete map features without a key" },
  "delete-excluded": {
    ...flag,
    describe: "In full mode, also delete map features that --where, --bbox or --geometry-type exclude from INPUT",
  },
  "max-delete": {
    ...takesLimit,
    describe: "Fail if more features than this would be deleted: 100 or 5%",
    defaultDescription: "10% of a map of more than 10 features",
  },
  "max-update": { ...takesLimit, describe: "Fail if more features than this would be updated: 100 or 5%" },
  "allow-null-geometry": { ...flag, describe: "Allow updates that remove the geometry of a feature" },
  "allow-empty": { ...flag, describe: "Allow an empty INPUT to delete all features of the map" },
});

export const overwriteEditsOption = grouped(ofGuards, {
  "overwrite-edits": { ...flag, describe: "Also restore features that were edited after the run" },
});

export const dedupeOptions = {
  ...grouped("Selection:", {
    keep: {
      ...text,
      accepts: ["first", "last"],
      describe: "Feature of each key to keep, by id or --order-by: first or last",
      defaultDescription: "first",
    },
    "order-by": {
      ...text,
      accepts: "field",
      describe: "Property to sort duplicates by: a number, or text such as 2026-01-31T12:00:00Z",
      defaultDescription: "the id",
    },
  }),
  ...grouped(ofGuards, {
    "delete-different": { ...flag, describe: "Also delete features that differ from the one that is kept" },
  }),
};

export const sendingOptions = grouped("Writing:", {
  "update-with": {
    ...text,
    accepts: ["patch", "delete-create"],
    describe: "Method of updating: patch, or delete-create for services without PATCH (ids change)",
    defaultDescription: "patch",
  },
  "settle-time": {
    ...takes("MILLISECONDS"),
    describe: "Time to wait after a request without a response before reading the map to check its outcome",
    defaultDescription: "2000",
  },
});

export const conflictOption = grouped("Writing:", {
  "conflict-retries": {
    ...takes("N"),
    describe: "Number of times to read and compare again if another writer changed the map",
    defaultDescription: "10",
  },
});

export const writingOptions = grouped(ofGuards, {
  "dry-run": { ...flag, describe: "Show what would be done without doing it" },
  yes: { ...flag, alias: "y", describe: "Skip prompts; guards still apply" },
  backup: {
    ...takes("PATH"),
    isPath: true,
    describe: "Backup file or folder for geoferry restore; existing files are never replaced",
    defaultDescription: "backups in the state folder",
  },
});

export const modeOption = {
  mode: {
    ...text,
    accepts: syncModes,
    describe: "Changes to make: incremental creates and updates; full also deletes the rest; append creates everything",
    defaultDescription: "incremental",
  },
} as const;

export const inputsPositional = {
  inputs: {
    type: "string",
    array: true,
    describe: "INPUT...: files, folders, globs, zip files, addresses, map:ID, - for stdin",
    demandOption: true,
  },
} as const;

/** @param prefix of the default file name */
export const refusedOption = (prefix: string) => ({
  rejects: {
    ...file,
    describe: "File for features that the service refuses; replaces that of an earlier run",
    defaultDescription: `${prefix}.rejects.geojsonl`,
  },
});

const inputOptions = grouped("Input:", {
  ...readingOptions,
  ...shapingOptions,
  bbox: {
    ...takes("BOX"),
    describe: "Keep only features in the box: west,south,east,north in degrees; west > east spans the antimeridian",
  },
  limit: { ...takes("N"), describe: "Stop after this many features; not allowed in full mode" },
  ...rejectOptions,
  rejects: {
    ...file,
    describe: "File for features rejected from INPUT or refused by the service; replaces that of an earlier run",
    defaultDescription: "INPUT.rejects.geojsonl in the current folder",
  },
  strict: { ...flag, describe: "Fail if there are warnings or losses" },
});

/** Adds the flags of all commands that use a map. */
export const onMap = <T extends Readonly<Record<string, Flag>>>(own: T) => ({
  ...own,
  ...grouped("Service:", {
    ...serviceOptions,
    state: {
      ...folder,
      describe: "Folder for locks, journals and sync state",
      defaultDescription: "XDG_STATE_HOME/geoferry",
    },
  }),
  ...networkOptions,
});

/** Adds the flags of all commands that compare INPUT with a map. */
export const withInput = <T extends Readonly<Record<string, Flag>>>(own: T) =>
  onMap({ ...mapOption, ...own, ...inputOptions });

/** `100` or `5%`. @throws option-invalid */
export function limitOf(option: string, value: string | undefined): Limit | null {
  if (value === undefined) return null;
  const limit = parseLimit(value);
  if (limit === null)
    throw createError("option-invalid", { option, value, expected: "a number like 100 or a percentage like 5%" });
  return limit;
}

function scopeOf(value: string | undefined): SyncRequest["scope"] {
  if (value === undefined) return null;
  const scope = parseScope(value);
  if (scope === null)
    throw createError("option-invalid", { option: "--scope", value, expected: "of the form property=value" });
  return scope;
}

function matchingOf({ match, remoteField, mode }: SyncArguments): SyncRequest["matching"] {
  if (match !== undefined) {
    oneOf("--match", match, ["id"], "id");
    if (remoteField !== undefined)
      throw createError("usage", {
        reason: "--match id matches features by their ids, --remote-field by a property: choose one",
      });
    return { by: "id" };
  }
  if (mode === "append" && remoteField !== undefined)
    throw createError("usage", {
      reason: "--mode append does not match features: remove --remote-field",
    });
  return { by: "property", name: remoteField === undefined || remoteField === "auto" ? null : remoteField };
}

/** A double represents at most 13 decimals of a longitude. */
const maxDecimals = 13;

function precisionOf(value: string | undefined): number {
  const decimals = wholeNumber("--precision", value, 0) ?? defaultSyncSettings.precision;
  if (decimals <= maxDecimals) return decimals;
  throw createError("option-invalid", { option: "--precision", value: value!, expected: `at most ${maxDecimals}` });
}

const unmanagedOf = ({ keepUnmanaged, deleteUnmanaged }: SyncArguments): SyncRequest["unmanaged"] => {
  if (keepUnmanaged && deleteUnmanaged)
    throw createError("usage", { reason: "--keep-unmanaged and --delete-unmanaged exclude each other: choose one" });
  return keepUnmanaged ? "keep" : deleteUnmanaged ? "delete" : "refuse";
};

/** @throws usage, option-invalid */
export function syncRequestOf(args: SyncArguments): SyncRequest {
  const mode: SyncMode = oneOf("--mode", args.mode, syncModes, defaultSyncSettings.mode);
  return {
    source: sourceOf(args),
    map: mapIdOf(args.map),
    mode,
    matching: matchingOf(args),
    scope: scopeOf(args.scope),
    precision: precisionOf(args.precision),
    replaceProperties: args.replaceProperties ?? false,
    unmanaged: unmanagedOf(args),
    deleteExcluded: args.deleteExcluded ?? false,
    updateWith: oneOf("--update-with", args.updateWith, ["patch", "delete-create"], "patch"),
    onDuplicate: oneOf("--on-duplicate", args.onDuplicate, ["refuse", "first", "last"], "refuse"),
    onMissingKey: oneOf("--on-missing-key", args.onMissingKey, ["refuse", "reject"], "refuse"),
    singleRead: args.singleRead ?? false,
    settleTime: wholeNumber("--settle-time", args.settleTime, 0) ?? defaultSyncSettings.settleTime,
    conflictRetries: wholeNumber("--conflict-retries", args.conflictRetries, 0) ?? defaultSyncSettings.conflictRetries,
    guards: {
      maxDelete: limitOf("--max-delete", args.maxDelete),
      maxUpdate: limitOf("--max-update", args.maxUpdate),
      allowNullGeometry: args.allowNullGeometry ?? false,
      allowEmpty: args.allowEmpty ?? false,
    },
    strict: args.strict ?? false,
  };
}

/** @throws option-invalid */
export function restorationSettingsOf(
  args: Pick<SyncArguments, "maxDelete" | "maxUpdate" | "singleRead" | "updateWith" | "settleTime">,
): RestoreRequest["settings"] {
  return {
    precision: precisionOf(undefined),
    updateWith: oneOf("--update-with", args.updateWith, ["patch", "delete-create"], "patch"),
    singleRead: args.singleRead ?? false,
    settleTime: wholeNumber("--settle-time", args.settleTime, 0) ?? defaultSyncSettings.settleTime,
    guards: {
      maxDelete: limitOf("--max-delete", args.maxDelete),
      maxUpdate: limitOf("--max-update", args.maxUpdate),
      // Features without a geometry before the run lose the one that the run added.
      allowNullGeometry: true,
      allowEmpty: true,
    },
  };
}

/** @throws usage, option-invalid */
export function dedupeRequestOf(
  args: Pick<SyncArguments, "remoteField" | "scope" | "precision" | "maxDelete" | "singleRead" | "settleTime"> & {
    readonly keep?: string;
    readonly orderBy?: string;
    readonly deleteDifferent?: boolean;
  },
): DedupeRequest {
  const { remoteField = "", orderBy = null } = args;
  if (remoteField === "" || orderBy === "")
    throw createError("usage", { reason: "a property has an empty name; check that the variable is set" });
  return {
    remoteField,
    orderBy,
    keep: oneOf("--keep", args.keep, ["first", "last"], "first"),
    deleteDifferent: args.deleteDifferent ?? false,
    scope: scopeOf(args.scope),
    precision: precisionOf(args.precision),
    singleRead: args.singleRead ?? false,
    settleTime: wholeNumber("--settle-time", args.settleTime, 0) ?? defaultSyncSettings.settleTime,
    guards: { maxDelete: limitOf("--max-delete", args.maxDelete) },
  };
}

function sourceOf(args: SyncArguments): SourceRequest {
  const { inputs } = args;
  if (inputs.includes(""))
    throw createError("usage", { reason: "INPUT is an empty name; check that the variable is set" });
  return omitUndefined<SourceRequest>({ ...sourceRequestOf(args), inputs });
}

/** Accepts `map:7c0…`, too, the form for maps as inputs. */
export function mapIdOf(text: string): string {
  const id = text.replace(/^map:/, "").trim();
  if (id === "") throw createError("usage", { reason: "the map id is empty; check that the variable is set" });
  return id;
}
