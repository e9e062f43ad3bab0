import { randomBytes } from "node:crypto";

/** 64 random bits as 16 hexadecimal digits. */
export const randomStamp = (): string => randomBytes(8).toString("hex");

/**
 * Names one state of a map, for entity tags: its revision and 64 random bits. A database that was restored from a backup
 * counts the same revisions a second time, for other contents; the random part tells these apart.
 */
export const createMapVersion = (revision: number): string => `${revision}-${randomStamp()}`;
