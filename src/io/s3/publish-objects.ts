/**
 * Uploads files as objects of a bucket: all of them, or everything stays as before.
 *
 * A store can only write one object at a time, and cannot rename. A single object is replaced in one step. For several,
 * the replaced objects are first copied to backup keys; then main objects that have companions are deleted, the companions
 * are written, and the main objects last, so that readers never see a mix of old and new objects.
 */
import { CopyObjectCommand, DeleteObjectCommand } from "@aws-sdk/client-s3";
import { createError } from "../../errors.js";
import { isAbandoned, markPattern, newMark } from "../output/abandoned-files.js";
import { type BucketAddress, folderPrefix, formatBucketAddress, objectName } from "./bucket-address.js";
import { headObject, listSiblings, type StoredObject } from "./list-objects.js";
import { runS3Operation } from "./s3-client.js";
import { checkCurrentObject, type ExpectedObject, isConditionFailure, Upload } from "./upload.js";

/** An object to write or delete. */
export interface ObjectChange {
  readonly to: BucketAddress;
  /** Null for an object to delete. */
  readonly file: { readonly path: string; readonly size: number; readonly writeId: string } | null;
  /** The existing object. */
  readonly old: StoredObject | null;
  /** Objects of one output have the same value. */
  readonly set: string;
  /** Whether this is the main object of its set; the others are companions. */
  readonly isMain: boolean;
}

const neverAborted = new AbortController().signal;

const deleteObject = ({ bucket, key }: BucketAddress): Promise<unknown> =>
  runS3Operation({ bucket, key, purpose: "write", signal: neverAborted }, (client) =>
    client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key })),
  );

/** @param etag version to copy; by default the current one */
const copyObject = (from: BucketAddress, { bucket, key }: BucketAddress, etag?: string): Promise<unknown> =>
  runS3Operation({ bucket, key, purpose: "write", signal: neverAborted }, (client) => {
    const CopySource = `${from.bucket}/${from.key.split("/").map(encodeURIComponent).join("/")}`;
    const condition = etag === undefined ? {} : { CopySourceIfMatch: etag };
    return client.send(new CopyObjectCommand({ Bucket: bucket, Key: key, CopySource, ...condition }));
  });

/** `.roads.shp.1a2b3c4d-77-9c0d1e2f-5e6f7a8b.old` */
const backupKeyPattern = new RegExp(`^\\.(?<name>.+)\\.(?<mark>${markPattern})\\.old$`, "s");

/** `in/roads` of `in/roads.shp.xml`. */
export const stemOf = (key: string): string => folderPrefix(key) + objectName(key).replace(/\..*$/s, "");

class BucketPublication {
  private readonly mark = newMark();
  private readonly uploads = new Map<ObjectChange, Upload>();
  /** The replaced objects and their backups. */
  private readonly backups: { readonly old: StoredObject; readonly backup: BucketAddress; readonly isMain: boolean }[] =
    [];
  private readonly published: BucketAddress[] = [];
  /** Objects that were written without a condition, since the store does not support it. */
  readonly unconditional: BucketAddress[] = [];

  /** @param changes in the order in which they get their names */
  constructor(private readonly changes: readonly ObjectChange[]) {
    for (const change of changes)
      if (change.file) {
        const { path, size, writeId } = change.file;
        this.uploads.set(change, new Upload(change.to, path, size, writeId));
      }
  }

  /** Uploads the parts of large files, which are not visible yet, and checks that no existing object has changed. */
  async prepare(signal: AbortSignal): Promise<void> {
    for (const upload of this.uploads.values()) await upload.send(signal);
    for (const { to, old } of this.changes) await checkCurrentObject(to, old, signal);
  }

  async publish(): Promise<void> {
    const [only] = this.changes;
    if (this.changes.length === 1 && only?.file) return this.complete(only, only.old);
    for (const { old, isMain } of this.changes) if (old) await this.backUp(old, isMain);
    const gone = new Set<ObjectChange>();
    for (const change of this.changes) {
      if (!change.old || (change.file && !this.hasCompanions(change))) continue;
      if (!change.isMain) continue;
      await checkCurrentObject(change.to, change.old);
      await deleteObject(change.to);
      gone.add(change);
    }
    for (const change of this.changes) {
      if (change.file) await this.publishObject(change, gone.has(change) ? null : change.old);
      else if (!gone.has(change)) {
        await checkCurrentObject(change.to, change.old);
        await deleteObject(change.to);
      }
    }
    await Promise.allSettled(this.backups.map(({ backup }) => deleteObject(backup)));
    await this.deleteStaleBackups().catch(() => {});
  }

  /**
   * Deletes backups of killed runs, since there is a complete output again. Only of runs that wrote the same objects: a
   * backup of another output with a similar name (`roads2.shp`) may be its only copy.
   */
  private async deleteStaleBackups(): Promise<void> {
    const first = this.changes.at(-1)!.to;
    const written = new Set(this.changes.map(({ to }) => to.key));
    const prefixes = new Set(this.changes.map(({ to }) => `${folderPrefix(to.key)}.${objectName(stemOf(to.key))}`));
    for (const prefix of prefixes) {
      const beside = await listSiblings({ ...first, purpose: "write", signal: neverAborted }, prefix);
      const backups = beside.flatMap((object) => {
        const { name, mark } = backupKeyPattern.exec(objectName(object.key))?.groups ?? {};
        if (name === undefined || mark === undefined || !isAbandoned(mark, object.modified)) return [];
        return [{ object, mark, isWritten: written.has(folderPrefix(object.key) + name) }];
      });
      const marks = new Set(backups.filter(({ isWritten }) => isWritten).map(({ mark }) => mark));
      for (const { object, mark } of backups) if (marks.has(mark)) await deleteObject(object);
    }
  }

  /** Restores the previous objects, except those that others have written since. @throws output-not-restored */
  async rollBack(reason: string): Promise<void> {
    for (const upload of this.uploads.values()) await upload.abort();
    const kept = this.backups.map(({ backup }) => formatBucketAddress(backup));
    try {
      const replaced = new Set(this.backups.map(({ old }) => formatBucketAddress(old)));
      for (const to of this.published.toReversed())
        if (!replaced.has(formatBucketAddress(to)) && (await this.isOwn(to))) await deleteObject(to);
      for (const { old, backup } of [...this.backups].sort((a, b) => Number(a.isMain) - Number(b.isMain)))
        if (await this.isOwn(old, true)) await copyObject(backup, old);
      await Promise.allSettled(this.backups.map(({ backup }) => deleteObject(backup)));
    } catch (error) {
      const output = formatBucketAddress(this.changes.at(-1)!.to);
      if (kept.length > 0) throw createError("output-not-restored", { output, reason, kept }, error);
    }
  }

  /** Whether this publication wrote the object. @param orMissing the result if the object does not exist */
  private async isOwn(at: BucketAddress, orMissing = false): Promise<boolean> {
    const now = await headObject(at, neverAborted);
    return now === null ? orMissing : this.changes.some(({ file }) => file !== null && file.writeId === now.writing);
  }

  private hasCompanions({ set }: ObjectChange): boolean {
    return this.changes.some((other) => !other.isMain && other.set === set);
  }

  private async backUp(old: StoredObject, isMain: boolean): Promise<void> {
    const backup = { bucket: old.bucket, key: `${folderPrefix(old.key)}.${objectName(old.key)}.${this.mark}.old` };
    this.backups.push({ old, backup, isMain });
    try {
      await copyObject(old, backup, old.etag);
    } catch (error) {
      if (!isConditionFailure(error)) throw error;
      await checkCurrentObject(old, old);
      await copyObject(old, backup);
    }
  }

  private async publishObject(change: ObjectChange, expected: ExpectedObject): Promise<void> {
    this.published.push(change.to);
    await this.complete(change, expected);
  }

  private async complete(change: ObjectChange, expected: ExpectedObject): Promise<void> {
    if (!(await this.uploads.get(change)!.complete(expected))) this.unconditional.push(change.to);
  }
}

/**
 * @param changes the last one is the commit point; the others may have any order
 * @param ready called when all parts of large files are uploaded, before anything becomes visible
 * @returns the objects that were written without a condition, since the store does not support it
 * @throws output-exists, output-failed, output-not-restored, upload-outcome-unknown, bucket-forbidden,
 * bucket-unavailable, interrupted
 */
export async function publishObjects(
  changes: readonly ObjectChange[],
  signal: AbortSignal,
  ready: () => void | Promise<void> = () => {},
): Promise<readonly BucketAddress[]> {
  const publication = new BucketPublication([...changes].sort((a, b) => Number(a.isMain) - Number(b.isMain)));
  try {
    await publication.prepare(signal);
    signal.throwIfAborted();
    await ready();
    await publication.publish();
    return publication.unconditional;
  } catch (error) {
    await publication.rollBack(error instanceof Error ? error.message : String(error));
    throw error;
  }
}
