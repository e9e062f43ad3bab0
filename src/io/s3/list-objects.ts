/** Lists objects of a bucket by prefix, with common prefixes as folders. */
import {
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  type ListObjectsV2CommandOutput,
} from "@aws-sdk/client-s3";
import { createError, GeoferryError } from "../../errors.js";
import { type BucketAddress, formatBucketAddress } from "./bucket-address.js";
import { invalidResponseError, runS3Operation, type S3Operation } from "./s3-client.js";

/** The current version of an object. The same ETag means the same content. */
export interface StoredObject extends BucketAddress {
  /** With the quotes, as the store returns it. */
  readonly etag: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** Objects and folders directly below a prefix. */
export interface BucketFolder {
  readonly objects: readonly StoredObject[];
  /** Prefixes, each with a trailing `/`. */
  readonly folders: readonly string[];
}

/** A listing; `key` is used in messages. */
interface ListRequest extends S3Operation {
  readonly prefix: string;
  /** Whether keys with a further `/` are grouped into folders. */
  readonly flat: boolean;
}

/** Consecutive pages without a new key. A store may send some, for instance for deleted versions. */
const maxEmptyPages = 100;

/**
 * Requests page after page, as long as the store announces more (Amazon S3 API Reference, ListObjectsV2).
 * @throws as `runS3Operation` does; input-download or output-failed if a truncated page has no continuation token, or one
 * that occurred before
 */
async function* listPages(
  operation: S3Operation,
  input: Omit<ListObjectsV2CommandInput, "Bucket">,
): AsyncGenerator<ListObjectsV2CommandOutput> {
  const tokens = new Set<string>();
  for (let token: string | undefined; ; ) {
    const request = {
      ...input,
      Bucket: operation.bucket,
      ...(token === undefined ? {} : { ContinuationToken: token }),
    };
    const page = await runS3Operation(operation, (client, options) =>
      client.send(new ListObjectsV2Command(request), options),
    );
    const next = page.NextContinuationToken || undefined;
    if (page.IsTruncated && next === undefined) throw incompleteListError(operation, missingTokenReason);
    if (next !== undefined && tokens.has(next)) throw incompleteListError(operation, repeatedTokenReason);
    yield page;
    if (next === undefined) return;
    tokens.add(next);
    token = next;
  }
}

const incompleteListError = (operation: S3Operation, reason: string): GeoferryError =>
  invalidResponseError(operation, `its list of objects is incomplete: ${reason}`);

const missingTokenReason =
  "the store announces more (IsTruncated) without a continuation token; check the store, and any proxy before it";
const repeatedTokenReason = "the store repeats a page; check the store, and any proxy before it";

/** Lists all pages, in the order of the keys. @throws as `listPages` does */
async function listObjects({ prefix, flat, ...operation }: ListRequest): Promise<BucketFolder> {
  const { bucket } = operation;
  const objects = new Map<string, StoredObject>();
  const folders = new Set<string>();
  let emptyPages = 0;
  for await (const page of listPages(operation, { Prefix: prefix, ...(flat ? { Delimiter: "/" } : {}) })) {
    const before = objects.size + folders.size;
    for (const { Key, ETag = "", Size = 0, LastModified } of page.Contents ?? [])
      if (Key !== undefined && !objects.has(Key))
        objects.set(Key, { bucket, key: Key, etag: ETag, size: Size, modified: LastModified?.getTime() ?? 0 });
    for (const { Prefix } of page.CommonPrefixes ?? []) if (Prefix !== undefined) folders.add(Prefix);
    const isNew = objects.size + folders.size > before;
    emptyPages = isNew ? 0 : emptyPages + 1;
    const isRepeated = !isNew && (page.Contents ?? []).length > 0;
    if (isRepeated || emptyPages > maxEmptyPages) throw incompleteListError(operation, repeatedTokenReason);
  }
  return { objects: [...objects.values()], folders: [...folders] };
}

/** The objects and folders directly below `start.key`, which ends with a `/` or is empty. */
export const listFolder = (start: BucketAddress, signal: AbortSignal): Promise<BucketFolder> =>
  listObjects({ ...start, prefix: start.key, flat: true, purpose: "read", signal });

/** Every object whose key begins with `start.key`, however deep. */
export const listAll = async (
  start: BucketAddress,
  signal: AbortSignal,
  purpose: S3Operation["purpose"] = "read",
): Promise<readonly StoredObject[]> =>
  (await listObjects({ ...start, prefix: start.key, flat: false, purpose, signal })).objects;

/** The objects in the same folder whose keys begin with `prefix`: `in/roads.shp`, `in/roads.dbf`, `in/roads_1.shp`. */
export const listSiblings = async (operation: S3Operation, prefix: string): Promise<readonly StoredObject[]> =>
  (await listObjects({ ...operation, prefix, flat: true })).objects;

/** Whether any object exists below a prefix. */
export async function prefixExists({ bucket, key }: BucketAddress, signal: AbortSignal): Promise<boolean> {
  const prefix = `${key.replace(/\/$/, "")}/`;
  const operation = { bucket, key: prefix, purpose: "read", signal } as const;
  for await (const page of listPages(operation, { Prefix: prefix, MaxKeys: 1 }))
    if ((page.Contents ?? []).length > 0) return true;
  return false;
}

/** Metadata key in which geoferry stores the ID of the write that created an object. */
export const writeIdKey = "geoferry-writing";

/** An object with its metadata. */
export interface ObjectHead extends StoredObject {
  /** ID of the write of geoferry that created the object; null if another program did. */
  readonly writing: string | null;
  readonly contentEncoding: string | undefined;
}

/** URL parsers resolve these parts of a path (RFC 3986, 5.2.4), so that a request would name another object. */
const hasDotPart = (key: string): boolean => key.split("/").some((part) => part === "." || part === "..");

/**
 * The current version of an object; null if there is none.
 * @throws as `runS3Operation` does; usage if the key has a part `.` or `..`
 */
export async function headObject({ bucket, key }: BucketAddress, signal: AbortSignal): Promise<ObjectHead | null> {
  if (hasDotPart(key))
    throw createError("usage", {
      reason: `${formatBucketAddress({ bucket, key })}: geoferry cannot address an object whose key has a part "." or ".."; copy the object to another key, and name that`,
    });
  try {
    const found = await runS3Operation({ bucket, key, purpose: "read", signal }, (client, options) =>
      client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }), options),
    );
    const {
      ETag: etag = "",
      ContentLength: size = 0,
      ContentEncoding: contentEncoding,
      LastModified,
      Metadata,
    } = found;
    const modified = LastModified?.getTime() ?? 0;
    return { bucket, key, etag, size, modified, writing: Metadata?.[writeIdKey] ?? null, contentEncoding };
  } catch (error) {
    if (error instanceof GeoferryError && error.code === "input-missing") return null;
    throw error;
  }
}
