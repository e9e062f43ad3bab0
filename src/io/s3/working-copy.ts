/**
 * A local copy of the part of a bucket that is written to. Existing objects become files first, writers see an ordinary
 * folder, and changed files are uploaded at the end.
 */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { mkdir, open, utimes } from "node:fs/promises";
import { basename, dirname, extname, join, relative, sep } from "node:path";
import { createError } from "../../errors.js";
import { Spool, withSpoolErrors } from "../input/spool.js";
import type { StagedFile } from "../output/staged-file.js";
import { isTemporaryName, journalSuffixes, maxNameBytes } from "../output/temporary-names.js";
import {
  type BucketAddress,
  folderPrefix,
  formatBucketAddress,
  objectName,
  parseBucketAddress,
} from "./bucket-address.js";
import { fetchObjects } from "./fetch-objects.js";
import { listAll, listSiblings, type StoredObject } from "./list-objects.js";
import { type ObjectChange, publishObjects, stemOf as stemOfSet } from "./publish-objects.js";
import { abortAbandonedUploads } from "./unfinished-uploads.js";

/** An object and the state of its file when it was created. */
interface MaterializedObject {
  readonly object: StoredObject;
  readonly stat: Stats;
}

/** What `materialize` creates for an address. */
export interface CopyScope {
  /** Whether the content of the object and its companions is needed; others get only name, size and time. */
  readonly content: boolean;
  /** Whether the content of another object is needed, by its address. */
  readonly isRead?: (address: string) => boolean;
  /** Whether the address is a prefix whose objects are one dataset. */
  readonly folder: boolean;
}

const isUnchanged = (one: Stats, other: Stats): boolean =>
  one.ino === other.ino && one.size === other.size && one.mtimeMs === other.mtimeMs;

/** `roads` of `roads.shp` and of `roads.shp.zip`: the common start of the names of one output. */
const stemOf = (name: string): string => {
  const outer = name.slice(0, name.length - extname(name).length);
  return /\.zip$/i.test(name) ? outer.slice(0, outer.length - extname(outer).length) : outer;
};

export class WorkingCopy implements AsyncDisposable {
  private readonly spool = new Spool();
  private readonly root = this.spool.folder();
  private readonly materialized = new Map<string, MaterializedObject>();

  constructor(private readonly signal: AbortSignal) {}

  /** The path for an address. @throws usage if the key is not a valid path */
  pathOf(address: string): string {
    const path = this.localPath(address);
    if (path !== null) return path;
    throw createError("usage", {
      reason: `${address}: geoferry cannot write an object of this name; use a name such as s3://bucket/folder/name`,
    });
  }

  /** The path for an address; null if the key is not a valid path. */
  localPath(address: string): string | null {
    const { bucket, key } = parseBucketAddress(address);
    const parts = key.split("/");
    const isInvalid = (part: string) =>
      part === "" || part === "." || part === ".." || part.includes("\0") || Buffer.byteLength(part) > maxNameBytes;
    return parts.some(isInvalid) ? null : join(this.root, bucket, ...parts);
  }

  /** The reservation key of a file: its address, so that all working copies use the same key. */
  reservation(name: string): string {
    const root = realpathSync(this.root).toLowerCase() + sep;
    return name.startsWith(root) ? `s3://${name.slice(root.length)}` : name;
  }

  /** The address of a file. */
  addressOf(path: string): BucketAddress {
    const [bucket = "", ...parts] = relative(this.root, path).split(sep);
    return { bucket, key: parts.join("/") };
  }

  /** Replaces paths of the working copy by addresses in all strings of a value. */
  displayName<T>(value: T): T {
    if (typeof value === "string") return value.replaceAll(this.root + sep, "s3://") as T;
    if (Array.isArray(value)) return value.map((each) => this.displayName(each)) as T;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.displayName(each)])) as T;
  }

  /** @throws usage, and what listing and fetching throw */
  async materialize(address: string, { content, isRead, folder }: CopyScope): Promise<void> {
    await abortAbandonedUploads(this.signal);
    const path = this.pathOf(address);
    const { bucket, key } = parseBucketAddress(address);
    const stem = folderPrefix(key) + stemOf(objectName(key));
    await withSpoolErrors(path, mkdir(dirname(path), { recursive: true, mode: 0o700 }));
    const beside = folder
      ? await listAll({ bucket, key: `${key}/` }, this.signal, "write")
      : await listSiblings({ bucket, key, purpose: "write", signal: this.signal }, stem);
    const objects = beside.filter(
      ({ key }) => !key.endsWith("/") && Buffer.byteLength(objectName(key)) <= maxNameBytes,
    );
    const needsContent = (object: StoredObject) =>
      (content && (folder || object.key.startsWith(`${stem}.`))) || (isRead?.(formatBucketAddress(object)) ?? false);
    // The output and the rejects file may have the same folder.
    const files = objects
      .map((object) => ({ object, path: this.pathOf(formatBucketAddress(object)) }))
      .filter(({ path }) => !this.materialized.has(path));
    await fetchObjects(
      files.filter(({ object }) => needsContent(object)),
      { signal: this.signal },
    );
    for (const { object, path } of files) {
      if (!needsContent(object)) await withSpoolErrors(path, createPlaceholder(object, path));
      const time = new Date(object.modified);
      await withSpoolErrors(path, utimes(path, time, time));
      this.materialized.set(path, { object, stat: statSync(path) });
    }
  }

  /**
   * Uploads the changed files.
   * @param mainPath path of the main file, which is written last
   * @param isCompanion whether a file of this name belongs to another
   * @param ready called with the files before the first object becomes visible
   * @returns the addresses that were written without a condition, since the store does not support it
   * @throws as `publishObjects` does
   */
  async publish(
    mainPath: string,
    isCompanion: (name: string) => boolean,
    ready: (files: readonly StagedFile[]) => void | Promise<void>,
  ): Promise<string[]> {
    const changes = this.changes(mainPath, isCompanion);
    if (changes.length === 0) return [];
    const unconditional = await publishObjects(changes, this.signal, () =>
      ready(
        changes.flatMap(({ to, file }) =>
          file ? [{ path: file.path, finalPath: formatBucketAddress(to), stamp: file.writeId }] : [],
        ),
      ),
    );
    return unconditional.map(formatBucketAddress);
  }

  private changes(mainPath: string, isCompanion: (name: string) => boolean): ObjectChange[] {
    const changes: ObjectChange[] = [];
    const present = [...this.files()].sort();
    // In a folder that is one dataset, one file is the main file.
    const isWithin = (path: string) => path.startsWith(mainPath + sep);
    const decides = new Set([mainPath, present.find(isWithin), [...this.materialized.keys()].sort().find(isWithin)]);
    const belonging = (path: string) => ({
      set: isWithin(path) ? mainPath : join(dirname(path), stemOfSet(basename(path))),
      isMain: decides.has(path) || !(isWithin(path) || isCompanion(basename(path))),
    });
    for (const path of present) {
      const stat = statSync(path);
      const before = this.materialized.get(path);
      if (before && isUnchanged(before.stat, stat)) continue;
      const file = { path, size: stat.size, writeId: randomUUID() };
      changes.push({ to: this.addressOf(path), file, old: before?.object ?? null, ...belonging(path) });
    }
    for (const [path, { object }] of this.materialized)
      if (!existsSync(path)) changes.push({ to: object, file: null, old: object, ...belonging(path) });
    const isLast = ({ to }: ObjectChange) => Number(decides.has(this.pathOf(formatBucketAddress(to))));
    return changes.sort((a, b) => isLast(a) - isLast(b));
  }

  /** All files except temporary ones. */
  private *files(folder: string = this.root): Generator<string> {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (isTemporaryName(entry.name) || journalSuffixes.some((suffix) => entry.name.endsWith(suffix))) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) yield* this.files(path);
      else yield path;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.spool[Symbol.asyncDispose]();
  }
}

/** Creates a sparse file of the size of the object, which takes no disk space. */
async function createPlaceholder({ size }: StoredObject, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, "wx", 0o600);
  try {
    await file.truncate(size);
  } finally {
    await file.close();
  }
}
