import { randomBytes } from "node:crypto";

/** 64 random bits as 16 hexadecimal digits. */
export const randomStamp = (): string => randomBytes(8).toString("hex");

/**
 * Identifies a state of a map in entity tags: its revision and 64 random bits. A database restored from a backup
 * reaches the same revisions again with other contents; the random part distinguishes them.
 */
export const createMapVersion = (revision: number): string => `${revision}-${randomStamp()}`;
