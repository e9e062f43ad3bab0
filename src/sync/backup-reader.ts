import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { fault } from "../errors.js";
import { systemReason } from "../io/source.js";
import { type BackupHeader, backupVersion } from "./backup.js";
import type { HeldFeature } from "./plan.js";
import { isGeometry } from "./plan-geometry.js";

/** A backup that was read to know that it is whole; its features are read as they are needed. */
export interface OpenBackup {
  readonly path: string;
  readonly header: BackupHeader;
  readonly features: number;
  /** Bytes. */
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** In the order of the file; can be called again. */
  all(): AsyncIterable<HeldFeature>;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @throws input-missing, input-unreadable, backup-invalid */
export async function openBackup(path: string): Promise<OpenBackup> {
  let header: BackupHeader | null = null;
  let features = 0;
  let isWhole = false;
  for await (const { number, text } of linesOf(path)) {
    if (number === 1) header = headerIn(path, text);
    else if (text === "]}") isWhole = true;
    else {
      featureIn(path, number, text);
      features += 1;
    }
  }
  if (!header || !isWhole) throw fault("backup-invalid", { backup: path, line: features + 1, reason: "it ends early" });
  return { path, header, features, ...(await sumOf(path)), all: () => featuresOf(path) };
}

async function* featuresOf(path: string): AsyncGenerator<HeldFeature> {
  for await (const { number, text } of linesOf(path))
    if (number > 1 && text !== "]}") yield featureIn(path, number, text);
}

async function* linesOf(path: string): AsyncGenerator<{ readonly number: number; readonly text: string }> {
  let number = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY }))
      yield { number: ++number, text };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw fault("input-missing", { source: path }, error);
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw fault("input-unreadable", { source: path, reason: systemReason(error) }, error);
  }
}

/** The first line is the collection up to its features. */
function headerIn(path: string, text: string): BackupHeader {
  const { geoferry } = (parsed(`${text}]}`) ?? {}) as { readonly geoferry?: unknown };
  if (!isObject(geoferry) || typeof geoferry.service !== "string" || typeof geoferry.map !== "string")
    throw fault("backup-invalid", { backup: path, line: 1, reason: "it does not say which map it is of" });
  if (geoferry.backup !== backupVersion)
    throw fault("backup-invalid", { backup: path, line: 1, reason: `its version is ${String(geoferry.backup)}` });
  return { scope: null, ...geoferry } as unknown as BackupHeader;
}

function featureIn(path: string, line: number, text: string): HeldFeature {
  const feature = parsed(text.replace(/,$/, ""));
  if (
    !isObject(feature) ||
    typeof feature.id !== "string" ||
    !isObject(feature.properties) ||
    !(feature.geometry === null || isGeometry(feature.geometry))
  )
    throw fault("backup-invalid", { backup: path, line, reason: "it is no feature with an id" });
  return feature as unknown as HeldFeature;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function sumOf(path: string): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return { size, sha256: hash.digest("hex") };
}
