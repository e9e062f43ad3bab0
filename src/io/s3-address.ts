/** Addresses of objects in S3 and compatible stores: `s3://bucket/key`. */
import { fault } from "../errors.js";

export interface BucketAddress {
  readonly bucket: string;
  /** As it is stored: nothing in it is encoded. Empty of the whole bucket, with a `/` at its end of a prefix. */
  readonly key: string;
}

export const isBucketAddress = (text: string): boolean => /^s3:\/\//i.test(text);

/** @throws usage where there is no bucket in it */
export function bucketAddressOf(text: string): BucketAddress {
  const [, bucket = "", key = ""] = /^s3:\/\/([^/]*)\/?(.*)$/is.exec(text) ?? [];
  if (!/^[^/\\?#@:\s]+$/.test(bucket))
    throw fault("usage", { reason: `${text}: is no address of an object; write s3://bucket/key` });
  return { bucket, key };
}

export const textOf = ({ bucket, key }: BucketAddress): string => `s3://${bucket}/${key}`;

/** `in/` of `in/roads.shp`, nothing of `roads.shp`. */
export const prefixOf = (key: string): string => key.slice(0, key.lastIndexOf("/") + 1);

/** `roads.shp` of `in/roads.shp`. */
export const nameOf = (key: string): string => key.slice(prefixOf(key).length);
