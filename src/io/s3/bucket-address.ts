/** Addresses of objects in S3 and compatible stores: `s3://bucket/key`. */
import { resolve, sep } from "node:path";
import { createError } from "../../errors.js";
import { redactUrl } from "../redact.js";

export interface BucketAddress {
  readonly bucket: string;
  /** As it is stored: nothing in it is encoded. Empty of the whole bucket, with a `/` at its end of a prefix. */
  readonly key: string;
}

export const isBucketAddress = (text: string): boolean => /^s3:\/\//i.test(text);

/** @throws usage where there is no bucket in it */
export function parseBucketAddress(text: string): BucketAddress {
  const [, bucket = "", key = ""] = /^s3:\/\/([^/]*)\/?(.*)$/is.exec(text) ?? [];
  if (/^\.*$/.test(bucket) || !/^[^/\\?#@:\s]+$/.test(bucket))
    throw createError("usage", {
      reason: `${redactUrl(text)}: is no address of an object; write s3://bucket/key, and credentials in the environment`,
    });
  return { bucket, key };
}

export const formatBucketAddress = ({ bucket, key }: BucketAddress): string => `s3://${bucket}/${key}`;

/** A path from the root of the file system; an address as it is. Neither ends with a separator. */
export const toAbsolute = (name: string): string => (isBucketAddress(name) ? name.replace(/\/+$/, "") : resolve(name));

/** What stands between a folder and what is in it. */
export const separatorFor = (name: string): string => (isBucketAddress(name) ? "/" : sep);

/** `in/` of `in/roads.shp`, nothing of `roads.shp`. */
export const folderPrefix = (key: string): string => key.slice(0, key.lastIndexOf("/") + 1);

/** `roads.shp` of `in/roads.shp`. */
export const objectName = (key: string): string => key.slice(folderPrefix(key).length);
