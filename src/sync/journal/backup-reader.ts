import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { readTextLines } from "../../io/input/text-lines.js";
import { parseExactFeature } from "../../remote/exact-properties.js";
import type { RemoteKey } from "../../remote/wire.js";
import { isGeometry } from "../plan/is-geometry.js";
import type { MapFeature } from "../plan/plan.js";
import { type BackupHeader, backupLines, backupVersion, digestedLines } from "./backup.js";

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
  /** Whether its digests were verified; false before version 5. */
  readonly isVerified: boolean;
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
  created: { [backupLines.open]: "open" },
};

/** The separator lines with a digest, by the current part. */
const digestedParts: Readonly<Partial<Record<BackupPart, "created" | "ended">>> = {
  creates: "created",
  created: "ended",
};

interface PartLine {
  readonly part: BackupPart;
  readonly number: number;
  readonly text: string;
  readonly isSeparator: boolean;
  /** Digest of earlier lines; null if the line has none. */
  readonly digest: string | null;
}

/** Yields the lines of a backup with their part; a separator line has the part that it starts. */
async function* readParts(path: string): AsyncGenerator<PartLine> {
  let part: BackupPart = "header";
  for await (const { number, text } of readLines(path)) {
    const digested: "created" | "ended" | undefined = digestedParts[part];
    const found: RegExpExecArray | null = digested ? digestedLines[digested].exec(text) : null;
    const next: BackupPart | undefined = found ? digested : nextParts[part]?.[text];
    part = next ?? part;
    yield { part, number, text, isSeparator: next !== undefined, digest: found?.[1] ?? null };
    if (part === "header") part = "features";
  }
}

/** Verifies the digests of a backup, and refuses ids that occur twice where it has none. */
class BackupVerifier {
  private readonly hash = createHash("sha256");
  private readonly createdHash = createHash("sha256");
  private readonly ids = new Set<string>();

  constructor(private readonly path: string) {}

  /** @throws backup-invalid */
  addLine({ part, number, text, isSeparator, digest }: PartLine): void {
    if (digest !== null) {
      const hash = part === "created" ? this.hash : this.createdHash;
      if (hash.digest("hex") !== digest)
        throw createError("backup-invalid", {
          backup: this.path,
          line: number,
          reason: "lines before this one were changed, since they do not have its digest",
        });
    }
    if (part === "created" && !isSeparator) this.createdHash.update(`${text.replace(/,$/, "")}\n`);
    else if (part !== "created" && part !== "open" && part !== "ended")
      this.hash.update(number === 1 ? text : `\n${text}`);
  }

  /** For backups without a digest. @throws backup-invalid */
  addId(id: string, line: number): void {
    if (this.ids.has(id))
      throw createError("backup-invalid", { backup: this.path, line, reason: `feature ${id} is there twice` });
    this.ids.add(id);
  }
}

/** The first version with digests. */
const firstDigestedVersion = 5;

/** @throws input-missing, input-unreadable, backup-invalid */
export async function openBackup(path: string): Promise<OpenBackup> {
  let header: BackupHeader | null = null;
  let last: PartLine | null = null;
  let features = 0;
  let creates = 0;
  let isVerified = false;
  let hasDigest = false;
  const verifier = new BackupVerifier(path);
  for await (const line of readParts(path)) {
    last = line;
    verifier.addLine(line);
    hasDigest ||= line.digest !== null;
    if (line.part === "header") {
      header = parseHeader(path, line.text);
      isVerified = header.backup >= firstDigestedVersion;
    }
    if (isVerified && line.digest === null && line.isSeparator && (line.part === "created" || line.part === "ended"))
      throw createError("backup-invalid", { backup: path, line: line.number, reason: "its digest is missing" });
    if (line.isSeparator) continue;
    if (line.part === "features") {
      const { id } = parseFeature(path, line);
      features += 1;
      if (!isVerified) verifier.addId(id, line.number);
    }
    if (line.part === "equal") parseEqualId(path, line);
    if (line.part === "updates") parseIntendedUpdate(path, line);
    if (line.part === "creates") creates += parseIntendedCreate(path, line) ? 1 : 0;
  }
  // The last addition of an interrupted run may be truncated; everything before it was written before the first
  // request.
  const isWhole =
    last !== null &&
    ["created", "open", "ended"].includes(last.part) &&
    (hasDigest || header?.backup !== backupVersion);
  if (!header || !isWhole)
    throw createError("backup-invalid", {
      backup: path,
      line: (last?.number ?? 0) + (header ? 0 : 1),
      reason: "it is truncated",
    });
  return {
    ...{ path, header, features, creates, isEnded: last?.part === "ended", isVerified },
    ...(await fileDigest(path)),
    readFeatures: () => readElements(path, "features", parseFeature),
    readEqualIds: () => readElements(path, "equal", parseEqualId),
    readIntendedUpdates: () => readElements(path, "updates", parseIntendedUpdate),
    readIntendedCreates: () => readIntendedCreates(path),
    readCreationEntries: () => readCreationEntries(path),
  };
}

/** Reads the creations that a run has recorded so far. @throws input-unreadable, backup-invalid */
export const readCreationEntries = (path: string): AsyncIterable<CreationEntry> =>
  readElements(path, "created", parseCreationEntry);

/** Reads the features that a run intended to create. @throws input-unreadable, backup-invalid */
export const readIntendedCreates = (path: string): AsyncIterable<IntendedCreate> =>
  readElements(path, "creates", parseIntendedCreate);

export const isIdList = (entry: CreationEntry): entry is readonly string[] => Array.isArray(entry);

async function* readElements<T>(
  path: string,
  part: BackupPart,
  read: (path: string, line: PartLine) => T | null,
): AsyncGenerator<T> {
  for await (const line of readParts(path)) {
    const element = line.part === part && !line.isSeparator ? read(path, line) : null;
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
  if (![1, 2, 3, 4, backupVersion].includes(geoferry.backup as number))
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
