/**
 * Files become objects of a bucket: all of them, or all is as it was.
 *
 * A store gives one object its name at a time and renames none. A single object takes the other's place in one step. Of
 * several, what is replaced is copied aside within the store first; then the main objects that have companions go, the
 * companions come, and the main ones come last, so that no mixed set is ever seen.
 */
import { CopyObjectCommand, DeleteObjectCommand } from "@aws-sdk/client-s3";
import { fault } from "../errors.js";
import { isAbandoned, markPattern, newMark } from "./leftovers.js";
import { type BucketAddress, nameOf, prefixOf, textOf } from "./s3-address.js";
import { ask } from "./s3-client.js";
import { headOf, listBeside, type StoredObject } from "./s3-listing.js";
import { type Expected, isAboutCondition, lookAt, Upload } from "./s3-upload.js";

/** An object that is to come, or to go. */
export interface Change {
  readonly to: BucketAddress;
  /** Null of one that goes. */
  readonly file: { readonly path: string; readonly size: number; readonly writing: string } | null;
  /** What is there now. */
  readonly old: StoredObject | null;
  /** What belongs together has the same here. */
  readonly set: string;
  /** The others of its set are nothing without it. */
  readonly isMain: boolean;
}

const never = new AbortController().signal;

const remove = ({ bucket, key }: BucketAddress): Promise<unknown> =>
  ask({ bucket, key, use: "write", signal: never }, (client) =>
    client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key })),
  );

/** @param etag of the version that is copied; whatever is there where absent */
const copy = (from: BucketAddress, { bucket, key }: BucketAddress, etag?: string): Promise<unknown> =>
  ask({ bucket, key, use: "write", signal: never }, (client) => {
    const CopySource = `${from.bucket}/${from.key.split("/").map(encodeURIComponent).join("/")}`;
    const condition = etag === undefined ? {} : { CopySourceIfMatch: etag };
    return client.send(new CopyObjectCommand({ Bucket: bucket, Key: key, CopySource, ...condition }));
  });

/** `.roads.shp.1a2b3c4d-77-5e6f7a8b.old` */
const asideName = new RegExp(`^\\.(?<name>.+)\\.(?<mark>${markPattern})\\.old$`);

/** `in/roads` of `in/roads.shp.xml`. */
export const stemOf = (key: string): string => prefixOf(key) + nameOf(key).replace(/\..*$/s, "");

class Publication {
  private readonly mark = newMark();
  private readonly uploads = new Map<Change, Upload>();
  /** What was there, and where it is kept. */
  private readonly asides: { readonly old: StoredObject; readonly aside: BucketAddress; readonly isMain: boolean }[] =
    [];
  private readonly given: BucketAddress[] = [];
  /** What was written where the store took no condition. */
  readonly unconditional: BucketAddress[] = [];

  /** @param changes in the order in which they get their names */
  constructor(private readonly changes: readonly Change[]) {
    for (const change of changes)
      if (change.file) {
        const { path, size, writing } = change.file;
        this.uploads.set(change, new Upload(change.to, path, size, writing));
      }
  }

  /** Everything large is with the store, and nothing is seen of it; what is there is what was there before. */
  async prepare(signal: AbortSignal): Promise<void> {
    for (const upload of this.uploads.values()) await upload.send(signal);
    for (const { to, old } of this.changes) await lookAt(to, old, signal);
  }

  async publish(): Promise<void> {
    const [only] = this.changes;
    if (this.changes.length === 1 && only?.file) return this.complete(only, only.old);
    for (const { old, isMain } of this.changes) if (old) await this.putAside(old, isMain);
    const gone = new Set<Change>();
    for (const change of this.changes) {
      if (!change.old || (change.file && !this.hasCompanions(change))) continue;
      if (!change.isMain) continue;
      await lookAt(change.to, change.old);
      await remove(change.to);
      gone.add(change);
    }
    for (const change of this.changes) {
      if (change.file) await this.giveName(change, gone.has(change) ? null : change.old);
      else if (!gone.has(change)) {
        await lookAt(change.to, change.old);
        await remove(change.to);
      }
    }
    await Promise.allSettled(this.asides.map(({ aside }) => remove(aside)));
    await this.sweepAsides().catch(() => {});
  }

  /**
   * What runs have kept aside that were killed: there is an output again. Only of those that wrote what this one has
   * written: of another output with such a name (`roads2.shp`) it may be all that is left.
   */
  private async sweepAsides(): Promise<void> {
    const first = this.changes.at(-1)!.to;
    const written = new Set(this.changes.map(({ to }) => to.key));
    const prefixes = new Set(this.changes.map(({ to }) => `${prefixOf(to.key)}.${nameOf(stemOf(to.key))}`));
    for (const prefix of prefixes) {
      const beside = await listBeside({ ...first, use: "write", signal: never }, prefix);
      const asides = beside.flatMap((object) => {
        const { name, mark } = asideName.exec(nameOf(object.key))?.groups ?? {};
        if (name === undefined || mark === undefined || !isAbandoned(mark, object.modified)) return [];
        return [{ object, mark, isWritten: written.has(prefixOf(object.key) + name) }];
      });
      const marks = new Set(asides.filter(({ isWritten }) => isWritten).map(({ mark }) => mark));
      for (const { object, mark } of asides) if (marks.has(mark)) await remove(object);
    }
  }

  /** Makes everything as it was, but for what others have written since. @throws output-not-put-back where it cannot be done */
  async takeBack(reason: string): Promise<void> {
    for (const upload of this.uploads.values()) await upload.abort();
    const kept = this.asides.map(({ aside }) => textOf(aside));
    try {
      const replaced = new Set(this.asides.map(({ old }) => textOf(old)));
      for (const to of this.given.toReversed())
        if (!replaced.has(textOf(to)) && (await this.isOwn(to))) await remove(to);
      for (const { old, aside } of [...this.asides].sort((a, b) => Number(a.isMain) - Number(b.isMain)))
        if (await this.isOwn(old, true)) await copy(aside, old);
      await Promise.allSettled(this.asides.map(({ aside }) => remove(aside)));
    } catch (error) {
      const output = textOf(this.changes.at(-1)!.to);
      if (kept.length > 0) throw fault("output-not-put-back", { output, reason, kept }, error);
    }
  }

  /** Whether what is there is of this publication. @param orNone also where nothing is there */
  private async isOwn(at: BucketAddress, orNone = false): Promise<boolean> {
    const now = await headOf(at, never);
    return now === null ? orNone : this.changes.some(({ file }) => file !== null && file.writing === now.writing);
  }

  private hasCompanions({ set }: Change): boolean {
    return this.changes.some((other) => !other.isMain && other.set === set);
  }

  private async putAside(old: StoredObject, isMain: boolean): Promise<void> {
    const aside = { bucket: old.bucket, key: `${prefixOf(old.key)}.${nameOf(old.key)}.${this.mark}.old` };
    this.asides.push({ old, aside, isMain });
    try {
      await copy(old, aside, old.etag);
    } catch (error) {
      if (!isAboutCondition(error)) throw error;
      await lookAt(old, old);
      await copy(old, aside);
    }
  }

  private async giveName(change: Change, expected: Expected): Promise<void> {
    this.given.push(change.to);
    await this.complete(change, expected);
  }

  private async complete(change: Change, expected: Expected): Promise<void> {
    if (!(await this.uploads.get(change)!.complete(expected))) this.unconditional.push(change.to);
  }
}

/**
 * @param changes in any order but that the one that decides is last
 * @param ready told when all large files are with the store, before anything is seen
 * @returns the objects that were written without a condition, since the store takes none
 * @throws output-exists, output-failed, output-not-put-back, bucket-forbidden, bucket-unavailable, interrupted
 */
export async function publishObjects(
  changes: readonly Change[],
  signal: AbortSignal,
  ready: () => void | Promise<void> = () => {},
): Promise<readonly BucketAddress[]> {
  const publication = new Publication([...changes].sort((a, b) => Number(a.isMain) - Number(b.isMain)));
  try {
    await publication.prepare(signal);
    signal.throwIfAborted();
    await ready();
    await publication.publish();
    return publication.unconditional;
  } catch (error) {
    await publication.takeBack(error instanceof Error ? error.message : String(error));
    throw error;
  }
}
