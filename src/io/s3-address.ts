/** Addresses of objects in S3 and compatible stores: `s3://bucket/key`. */
import { resolve, sep } from "node:path";
import { fault } from "../errors.js";
import { withoutSecrets } from "./without-secrets.js";

export interface BucketAddress {
  readonly bucket: string;
  /** As it is stored: nothing in it is encoded. Empty of the whole bucket, with a `/` at its end of a prefix. */
  readonly key: string;
}

export const isBucketAddress = (text: string): boolean => /^s3:\/\//i.test(text);

/** @throws usage where there is no bucket in it */
export function bucketAddressOf(text: string): BucketAddress {
  const [, bucket = "", key = ""] = /^s3:\/\/([^/]*)\/?(.*)$/is.exec(text) ?? [];
  if (/^\.*$/.test(bucket) || !/^[^/\\?#@:\s]+$/.test(bucket))
    throw fault("usage", {
      reason: `${withoutSecrets(text)}: is no address of an object; write s3://bucket/key, and credentials in the environment`,
    });
  return { bucket, key };
}

export const textOf = ({ bucket, key }: BucketAddress): string => `s3://${bucket}/${key}`;

/** A path from the root of the file system; an address as it is. Neither ends with a separator. */
export const absolute = (name: string): string => (isBucketAddress(name) ? name.replace(/\/+$/, "") : resolve(name));

/** What stands between a folder and what is in it. */
export const separatorOf = (name: string): string => (isBucketAddress(name) ? "/" : sep);

/** `in/` of `in/roads.shp`, nothing of `roads.shp`. */
export const prefixOf = (key: string): string => key.slice(0, key.lastIndexOf("/") + 1);

/** `roads.shp` of `in/roads.shp`. */
export const nameOf = (key: string): string => key.slice(prefixOf(key).length);
