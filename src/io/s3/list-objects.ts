/** Lists objects of a bucket by prefix, with common prefixes as folders. */
import { HeadObjectCommand, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { GeoferryError } from "../../errors.js";
import type { BucketAddress } from "./bucket-address.js";
import { runS3Operation, type S3Operation } from "./s3-client.js";

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

/** Lists all pages, in the order of the keys. @throws as `runS3Operation` does */
async function listObjects({ prefix, flat, ...operation }: ListRequest): Promise<BucketFolder> {
  const { bucket } = operation;
  return runS3Operation(operation, async (client, options) => {
    const objects: StoredObject[] = [];
    const folders: string[] = [];
    const input = { Bucket: bucket, Prefix: prefix, ...(flat ? { Delimiter: "/" } : {}) };
    for await (const page of paginateListObjectsV2({ client }, input, options)) {
      for (const { Key, ETag = "", Size = 0, LastModified } of page.Contents ?? [])
        if (Key !== undefined)
          objects.push({ bucket, key: Key, etag: ETag, size: Size, modified: LastModified?.getTime() ?? 0 });
      for (const { Prefix } of page.CommonPrefixes ?? []) if (Prefix !== undefined) folders.push(Prefix);
    }
    return { objects, folders };
  });
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
  return runS3Operation({ bucket, key: prefix, purpose: "read", signal }, async (client, options) => {
    const input = { Bucket: bucket, Prefix: prefix };
    for await (const page of paginateListObjectsV2({ client, pageSize: 1 }, input, options)) {
      return (page.Contents ?? []).length > 0;
    }
    return false;
  });
}

/** Metadata key in which geoferry stores the ID of the write that created an object. */
export const writeIdKey = "geoferry-writing";

/** The current version of an object and the ID of its write; null if there is none. @throws as `runS3Operation` does */
export async function headObject(
  { bucket, key }: BucketAddress,
  signal: AbortSignal,
): Promise<(StoredObject & { readonly writing: string | null }) | null> {
  try {
    const found = await runS3Operation({ bucket, key, purpose: "read", signal }, (client, options) =>
      client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }), options),
    );
    const { ETag = "", ContentLength = 0, LastModified, Metadata } = found;
    const writing = Metadata?.[writeIdKey] ?? null;
    return { bucket, key, etag: ETag, size: ContentLength, modified: LastModified?.getTime() ?? 0, writing };
  } catch (error) {
    if (error instanceof GeoferryError && error.code === "input-missing") return null;
    throw error;
  }
}
