/** What is in a bucket: objects by the beginning of their keys, and prefixes as folders. */
import { HeadObjectCommand, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { GeoferryError } from "../../errors.js";
import type { BucketAddress } from "./bucket-address.js";
import { runS3Operation, type S3Operation } from "./s3-client.js";

/** An object as it is now. Where the ETag is the same, so is the content. */
export interface StoredObject extends BucketAddress {
  /** As the store writes it, in quotes. */
  readonly etag: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds of the system's epoch. */
  readonly modified: number;
}

/** What stands directly below a prefix. */
export interface BucketFolder {
  readonly objects: readonly StoredObject[];
  /** Their keys, each with a `/` at its end. */
  readonly folders: readonly string[];
}

/** What of a bucket is listed, and for whom. */
interface ListRequest extends S3Operation {
  /** What the keys begin with; what is told of is `key`. */
  readonly prefix: string;
  /** What stands behind the next `/` is told as folders. */
  readonly flat: boolean;
}

/** In the order of their keys, page by page. @throws as `ask` does */
async function listObjects({ prefix, flat, ...errand }: ListRequest): Promise<BucketFolder> {
  const { bucket } = errand;
  return runS3Operation(errand, async (client, options) => {
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
export const listSiblings = async (errand: S3Operation, prefix: string): Promise<readonly StoredObject[]> =>
  (await listObjects({ ...errand, prefix, flat: true })).objects;

/** Whether there is anything below a prefix. */
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

/** Under this name an object that geoferry wrote says which writing it is of. */
export const writeIdKey = "geoferry-writing";

/** An object as it is now, and which writing it is of; null where there is none. @throws as `ask` does */
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
