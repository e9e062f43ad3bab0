/**
 * Makes queue jobs readable that another program has changed in Redis. BullMQ throws for a job with invalid JSON, so that
 * neither a worker nor a later run could finish or remove it.
 */
import type { Redis } from "ioredis";
import { createError } from "../../errors.js";
import { isRefusal } from "./connection.js";
import type { QueueAddress } from "./queue-address.js";

/** Changes members of a hash, unless it was removed meanwhile. */
const setMembers = `if redis.call("EXISTS", KEYS[1]) == 1 then redis.call("HSET", KEYS[1], unpack(ARGV)) end return 0`;

/** The members of a job that BullMQ parses, and their texts in a job without them. */
const emptyMembers = { data: "{}", opts: "{}", progress: "0", parent: "{}" } as const;

const names = Object.keys(emptyMembers) as (keyof typeof emptyMembers)[];

function isReadable(name: keyof typeof emptyMembers, text: string | null): boolean {
  if (text === null || text === "") return true;
  try {
    const value: unknown = JSON.parse(text);
    return name !== "opts" || (typeof value === "object" && value !== null);
  } catch {
    return false;
  }
}

/**
 * Replaces the unreadable members of a job, and its data with `null`, so that the next worker fails the job.
 * @param key of the job in Redis
 * @returns whether something was replaced
 * @throws errors of Redis
 */
export async function repairJob(redis: Redis, key: string): Promise<boolean> {
  const texts = await redis.hmget(key, ...names);
  const damaged = names.filter((name, index) => !isReadable(name, texts[index]!));
  if (damaged.length === 0) return false;
  const replaced = damaged.flatMap((name) => [name, emptyMembers[name]]);
  await redis.eval(setMembers, 1, key, ...replaced, "data", "null");
  return true;
}

/**
 * Repairs a job before it is read.
 * @throws queue-not-accepting if its key has another type
 */
export async function ensureReadableJob(redis: Redis, key: string, address: QueueAddress): Promise<void> {
  try {
    await repairJob(redis, key);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const reason = `its key ${key} cannot be read: ${(error as Error).message}`;
    throw createError("queue-not-accepting", { queue: address.displayUrl, reason }, error);
  }
}
