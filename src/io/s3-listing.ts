/** What is in a bucket: objects by the beginning of their keys, and prefixes as folders. */
import { HeadObjectCommand, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { GeoferryError } from "../errors.js";
import type { BucketAddress } from "./s3-address.js";
import { ask, type Errand } from "./s3-client.js";

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

/**
 * All objects whose keys begin with `start.key`, in the order of their keys, page by page; with `flat` those behind the
 * next `/` are told as folders.
 * @throws as `ask` does
 */
async function list(
  start: BucketAddress,
  flat: boolean,
  use: Errand["use"],
  signal: AbortSignal,
): Promise<BucketFolder> {
  const { bucket, key } = start;
  return ask({ bucket, key, use, signal }, async (client, options) => {
    const objects: StoredObject[] = [];
    const folders: string[] = [];
    const input = { Bucket: bucket, Prefix: key, ...(flat ? { Delimiter: "/" } : {}) };
    for await (const page of paginateListObjectsV2({ client }, input, options)) {
      for (const { Key, ETag, Size, LastModified } of page.Contents ?? [])
        if (Key !== undefined)
          objects.push({
            bucket,
            key: Key,
            etag: ETag ?? "",
            size: Size ?? 0,
            modified: LastModified?.getTime() ?? 0,
          });
      for (const { Prefix } of page.CommonPrefixes ?? []) if (Prefix !== undefined) folders.push(Prefix);
    }
    return { objects, folders };
  });
}

/** The objects and folders directly below `start.key`, which ends with a `/` or is empty. */
export const listFolder = (start: BucketAddress, signal: AbortSignal): Promise<BucketFolder> =>
  list(start, true, "read", signal);

/** Every object whose key begins with `start.key`, however deep. */
export const listAll = async (start: BucketAddress, signal: AbortSignal): Promise<readonly StoredObject[]> =>
  (await list(start, false, "read", signal)).objects;

/** The objects beside each other whose keys begin with `start.key`: `in/roads.shp`, `in/roads.dbf`, `in/roads_1.shp`. */
export const listBeside = async (
  start: BucketAddress,
  signal: AbortSignal,
  use: Errand["use"] = "read",
): Promise<readonly StoredObject[]> => (await list(start, true, use, signal)).objects;

/** Whether there is anything below a prefix. */
export async function hasFolder({ bucket, key }: BucketAddress, signal: AbortSignal): Promise<boolean> {
  const prefix = `${key.replace(/\/$/, "")}/`;
  return ask({ bucket, key: prefix, use: "read", signal }, async (client, options) => {
    const input = { Bucket: bucket, Prefix: prefix };
    for await (const page of paginateListObjectsV2({ client, pageSize: 1 }, input, options)) {
      return (page.Contents ?? []).length > 0;
    }
    return false;
  });
}

/** Under this name an object that geoferry wrote says which writing it is of. */
export const writingKey = "geoferry-writing";

/** An object as it is now, and which writing it is of; null where there is none. @throws as `ask` does */
export async function headOf(
  { bucket, key }: BucketAddress,
  signal: AbortSignal,
): Promise<(StoredObject & { readonly writing: string | null }) | null> {
  try {
    const found = await ask({ bucket, key, use: "read", signal }, (client, options) =>
      client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }), options),
    );
    const { ETag = "", ContentLength = 0, LastModified, Metadata } = found;
    const writing = Metadata?.[writingKey] ?? null;
    return { bucket, key, etag: ETag, size: ContentLength, modified: LastModified?.getTime() ?? 0, writing };
  } catch (error) {
    if (error instanceof GeoferryError && error.code === "input-missing") return null;
    throw error;
  }
}
