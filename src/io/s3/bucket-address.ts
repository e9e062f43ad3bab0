/** Addresses of objects in S3 and compatible stores: `s3://bucket/key`. */
import { resolve, sep } from "node:path";
import { createError } from "../../errors.js";
import { redactUrl } from "../redact.js";

export interface BucketAddress {
  readonly bucket: string;
  /** The key without URL encoding. Empty for the whole bucket; a prefix ends with `/`. */
  readonly key: string;
}

export const isBucketAddress = (text: string): boolean => /^s3:\/\//i.test(text);

/** @throws usage if the address names no bucket */
export function parseBucketAddress(text: string): BucketAddress {
  const [, bucket = "", key = ""] = /^s3:\/\/([^/]*)\/?(.*)$/is.exec(text) ?? [];
  if (/^\.*$/.test(bucket) || !/^[^/\\?#@:\s]+$/.test(bucket))
    throw createError("usage", {
      reason: `${redactUrl(text)}: is not an address of an object; write s3://bucket/key, and set credentials in the environment`,
    });
  return { bucket, key };
}

export const formatBucketAddress = ({ bucket, key }: BucketAddress): string => `s3://${bucket}/${key}`;

/** Makes a path absolute; bucket addresses are kept. The result has no trailing separator. */
export const toAbsolute = (name: string): string => (isBucketAddress(name) ? name.replace(/\/+$/, "") : resolve(name));

/** The separator between a folder and its entries. */
export const separatorFor = (name: string): string => (isBucketAddress(name) ? "/" : sep);

/** `in/` of `in/roads.shp`, nothing of `roads.shp`. */
export const folderPrefix = (key: string): string => key.slice(0, key.lastIndexOf("/") + 1);

/** `roads.shp` of `in/roads.shp`. */
export const objectName = (key: string): string => key.slice(folderPrefix(key).length);
