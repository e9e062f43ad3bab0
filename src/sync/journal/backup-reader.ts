import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { readTextLines } from "../../io/input/text-lines.js";
import { parseExactFeature } from "../../remote/exact-properties.js";
import type { RemoteKey } from "../../remote/wire.js";
import { isGeometry } from "../plan/is-geometry.js";
import type { MapFeature } from "../plan/plan.js";
import { type BackupHeader, backupLines, backupVersion } from "./backup.js";

/** A feature that the run intended to create. */
export interface IntendedCreate {
  /** Null if it has no key. */
  readonly key: RemoteKey | null;
  /** `shortDigest` of the content sent. */
  readonly digest: string;
}

/** A feature that the run intended to update. */
export interface IntendedUpdate {
  /** Id at the start of the run. */
  readonly id: string;
  /** `shortDigest` of the intended content. */
  readonly digest: string;
}

/** Features that the service created: ids, or digests of what the map showed if it differs from what was sent. */
export type CreationEntry = readonly string[] | Readonly<Record<string, string>>;

/** A validated backup; features are read on demand. */
export interface OpenBackup {
  readonly path: string;
  readonly header: BackupHeader;
  /** Number of features that were changed or deleted. */
  readonly features: number;
  /** Number of features that the run intended to create. */
  readonly creates: number;
  /** Whether the run ended in an orderly way, so that `created` is complete. */
  readonly isEnded: boolean;
  /** File size in bytes. */
  readonly size: number;
  /** SHA-256 of the file, hexadecimal. */
  readonly sha256: string;
  /** In file order; can be called repeatedly. */
  readFeatures(): AsyncIterable<MapFeature>;
  /** Ids of features that the run left and that have the same content as one of the backup; empty before version 4. */
  readEqualIds(): AsyncIterable<string>;
  /** Empty before version 3. */
  readIntendedUpdates(): AsyncIterable<IntendedUpdate>;
  readIntendedCreates(): AsyncIterable<IntendedCreate>;
  readCreationEntries(): AsyncIterable<CreationEntry>;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

type BackupPart = "header" | "features" | "equal" | "updates" | "creates" | "created" | "open" | "ended";

/** The part that a separator line starts, by the current part. */
const nextParts: Readonly<Partial<Record<BackupPart, Readonly<Record<string, BackupPart>>>>> = {
  features: {
    [backupLines.equal]: "equal",
    [backupLines.updates]: "updates",
    [backupLines.creates]: "creates",
    [backupLines.open]: "open",
  },
  equal: { [backupLines.updates]: "updates" },
  updates: { [backupLines.creates]: "creates" },
  creates: { [backupLines.created]: "created" },
  created: { [backupLines.open]: "open", [backupLines.ended]: "ended" },
};

interface PartLine {
  readonly part: BackupPart;
  readonly number: number;
  readonly text: string;
}

/** Yields the lines of a backup with their part; separator lines are omitted. */
async function* readParts(path: string): AsyncGenerator<PartLine> {
  let part: BackupPart = "header";
  for await (const { number, text } of readLines(path)) {
    const next: BackupPart | undefined = nextParts[part]?.[text];
    part = next ?? part;
    if (next === undefined || next === "open" || next === "ended") yield { part, number, text };
    if (part === "header") part = "features";
  }
}

/** @throws input-missing, input-unreadable, backup-invalid */
export async function openBackup(path: string): Promise<OpenBackup> {
  let header: BackupHeader | null = null;
  let last: PartLine | null = null;
  let features = 0;
  let creates = 0;
  for await (const line of readParts(path)) {
    last = line;
    if (line.part === "header") header = parseHeader(path, line.text);
    if (line.part === "features") features += parseFeature(path, line) ? 1 : 0;
    if (line.part === "equal") parseEqualId(path, line);
    if (line.part === "updates") parseIntendedUpdate(path, line);
    if (line.part === "creates") creates += parseIntendedCreate(path, line) ? 1 : 0;
  }
  // The last addition of an interrupted run may be truncated; everything before it was written before the first
  // request.
  const isWhole = last !== null && ["created", "open", "ended"].includes(last.part);
  if (!header || !isWhole)
    throw createError("backup-invalid", {
      backup: path,
      line: (last?.number ?? 0) + (header ? 0 : 1),
      reason: "it is truncated",
    });
  return {
    ...{ path, header, features, creates, isEnded: last?.part === "ended" },
    ...(await fileDigest(path)),
    readFeatures: () => readElements(path, "features", parseFeature),
    readEqualIds: () => readElements(path, "equal", parseEqualId),
    readIntendedUpdates: () => readElements(path, "updates", parseIntendedUpdate),
    readIntendedCreates: () => readElements(path, "creates", parseIntendedCreate),
    readCreationEntries: () => readCreationEntries(path),
  };
}

/** Reads the creations that a run has recorded so far. @throws input-unreadable, backup-invalid */
export const readCreationEntries = (path: string): AsyncIterable<CreationEntry> =>
  readElements(path, "created", parseCreationEntry);

export const isIdList = (entry: CreationEntry): entry is readonly string[] => Array.isArray(entry);

async function* readElements<T>(
  path: string,
  part: BackupPart,
  read: (path: string, line: PartLine) => T | null,
): AsyncGenerator<T> {
  for await (const line of readParts(path)) {
    const element = line.part === part ? read(path, line) : null;
    if (element !== null) yield element;
  }
}

async function* readLines(path: string): AsyncGenerator<{ readonly number: number; readonly text: string }> {
  let number = 0;
  try {
    // A file that was copied in text mode has other line endings.
    for await (const lines of readTextLines(path))
      for (const { text } of lines) yield { number: ++number, text: text.replace(/\r$/, "") };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw createError("input-missing", { source: path }, error);
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw createError("input-unreadable", { source: path, reason: describeSystemError(error) }, error);
  }
}

/** The first line is the start of the collection, up to its features. */
function parseHeader(path: string, text: string): BackupHeader {
  const { geoferry } = (parseJson(`${text}]}`) ?? {}) as { readonly geoferry?: unknown };
  if (!isObject(geoferry) || typeof geoferry.service !== "string" || typeof geoferry.map !== "string")
    throw createError("backup-invalid", { backup: path, line: 1, reason: "it does not name a map" });
  if (![1, 2, 3, backupVersion].includes(geoferry.backup as number))
    throw createError("backup-invalid", {
      backup: path,
      line: 1,
      reason: `version ${String(geoferry.backup)} is not supported`,
    });
  return { scope: null, ...geoferry } as unknown as BackupHeader;
}

const parseElement = ({ text }: PartLine, parse?: (json: string) => unknown): unknown =>
  parseJson(text.replace(/,$/, ""), parse);

function parseFeature(path: string, line: PartLine): MapFeature {
  const feature = parseElement(line, parseExactFeature);
  if (
    !isObject(feature) ||
    typeof feature.id !== "string" ||
    !isObject(feature.properties) ||
    !(feature.geometry === null || isGeometry(feature.geometry))
  )
    throw createError("backup-invalid", { backup: path, line: line.number, reason: "expected a feature with an id" });
  return feature as unknown as MapFeature;
}

function parseEqualId(path: string, line: PartLine): string {
  const id = parseElement(line);
  if (typeof id !== "string")
    throw createError("backup-invalid", { backup: path, line: line.number, reason: "expected an id" });
  return id;
}

function parseIntendedUpdate(path: string, line: PartLine): IntendedUpdate {
  const element = parseElement(line);
  const [id, digest] = Array.isArray(element) ? (element as readonly unknown[]) : [];
  if (typeof id !== "string" || typeof digest !== "string")
    throw createError("backup-invalid", { backup: path, line: line.number, reason: "expected an id with a digest" });
  return { id, digest };
}

function parseIntendedCreate(path: string, line: PartLine): IntendedCreate {
  const element = parseElement(line);
  const [key, digest] = Array.isArray(element) ? (element as readonly unknown[]) : [];
  const isKey = key === null || typeof key === "string" || typeof key === "number";
  if (!isKey || typeof digest !== "string")
    throw createError("backup-invalid", { backup: path, line: line.number, reason: "expected a key with a digest" });
  return { key, digest };
}

/** Null for a truncated line. */
function parseCreationEntry(_path: string, line: PartLine): CreationEntry | null {
  const element = parseElement(line);
  const texts = Array.isArray(element)
    ? (element as readonly unknown[])
    : isObject(element)
      ? Object.values(element)
      : [];
  return texts.length > 0 && texts.every((text) => typeof text === "string") ? (element as CreationEntry) : null;
}

function parseJson(text: string, parse: (json: string) => unknown = JSON.parse): unknown {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

async function fileDigest(path: string): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return { size, sha256: hash.digest("hex") };
}
