/** Checks the types of the keys of a queue, which commands of Redis and BullMQ require. */
import type { Redis } from "ioredis";
import { createError } from "../../errors.js";
import type { DispatcherSettings } from "./dispatcher/settings.js";
import { queuesKey } from "./queue-names.js";

type KeyType = "string" | "list" | "set" | "zset" | "hash" | "stream";

/** The keys of a queue in BullMQ 6, without those of jobs. */
const queueKeyTypes: Readonly<Record<string, KeyType>> = {
  id: "string",
  pc: "string",
  "stalled-check": "string",
  wait: "list",
  paused: "list",
  active: "list",
  stalled: "set",
  delayed: "zset",
  prioritized: "zset",
  "waiting-children": "zset",
  completed: "zset",
  failed: "zset",
  marker: "zset",
  meta: "hash",
  events: "stream",
};

const typeNames: Readonly<Record<string, string>> = { list: "a list", zset: "a sorted set", hash: "a hash" };

const nameOf = (type: string): string => typeNames[type] ?? `a ${type}`;

async function checkTypes(
  redis: Redis,
  { address, prefix }: DispatcherSettings,
  expected: readonly (readonly [key: string, type: KeyType])[],
): Promise<void> {
  const found = await Promise.all(
    expected.map(([key]) =>
      // A user who may not look it up gets the error of the command that needs the key.
      redis.type(key).catch(() => "none"),
    ),
  );
  for (const [index, [key, type]] of expected.entries()) {
    const actual = found[index]!;
    if (actual === type || actual === "none") continue;
    const reason = `its key ${key} is ${nameOf(actual)} instead of ${nameOf(type)}; if no other program uses the keys ${prefix}:*, delete it, otherwise set another --queue-prefix`;
    throw createError("queue-not-accepting", { queue: address.displayUrl, reason });
  }
}

/** Checks the list of queues. @throws queue-not-accepting */
export const checkQueueList = (redis: Redis, settings: DispatcherSettings): Promise<void> =>
  checkTypes(redis, settings, [[queuesKey(settings.prefix), "zset"]]);

/** Checks the keys of a queue. @param name of the queue @throws queue-not-accepting */
export const checkQueueKeys = (redis: Redis, settings: DispatcherSettings, name: string): Promise<void> =>
  checkTypes(
    redis,
    settings,
    Object.entries(queueKeyTypes).map(([key, type]) => [`${settings.prefix}:${name}:${key}`, type] as const),
  );
