/** Connections to Redis. */
import type { ConnectionOptions } from "bullmq";
import { Redis } from "ioredis";
import { fault, type GeoferryError } from "../../errors.js";
import { systemReason } from "../../io/source.js";
import type { QueueAddress } from "./address.js";

/** Milliseconds in which a server that is there answers. */
const patience = 5000;

/** Milliseconds between two tries to reach it again. */
const longestPause = 2000;

/** What BullMQ makes its connections of: they wait for a server that is away, and say nothing themselves. */
export const connectionOptions = ({ url }: QueueAddress): ConnectionOptions => ({
  ...{ url, maxRetriesPerRequest: null, connectTimeout: patience, skipVersionCheck: true },
  retryStrategy: (times: number) => Math.min(100 * times, longestPause),
});

/** Told of everything that a connection has to say; what is lost meanwhile is made up for when it is back. */
export const unheard = (): void => {};

/**
 * A connection for commands, to a server that was seen to be fit.
 * @param onNotice what a person should know
 * @throws queue-unavailable, queue-forbidden, queue-unfit
 */
export async function openRedis(address: QueueAddress, onNotice: (sentence: string) => void): Promise<Redis> {
  const probe = new Redis(address.url, {
    ...{ lazyConnect: true, connectTimeout: patience, commandTimeout: patience, maxRetriesPerRequest: 0 },
    retryStrategy: () => null,
  });
  let last: Error | undefined;
  probe.on("error", (error) => {
    last = error;
  });
  try {
    await probe.connect();
    const told = factsOf(await probe.info());
    checkFacts(told, address, onNotice);
  } catch (error) {
    throw failureOf(address, last ?? error);
  } finally {
    probe.disconnect();
  }
  const redis = new Redis(address.url, {
    ...{ maxRetriesPerRequest: null, connectTimeout: patience },
    retryStrategy: (times) => Math.min(100 * times, longestPause),
  });
  redis.on("error", unheard);
  return redis;
}

function failureOf(address: QueueAddress, error: unknown): GeoferryError {
  if ((error as { code?: string }).code === "queue-unfit") return error as GeoferryError;
  const { message, code } = error as NodeJS.ErrnoException;
  const isRefused = /NOAUTH|WRONGPASS|NOPERM|invalid password/i.test(message);
  const reason = code === "ECONNREFUSED" ? "nobody listens there" : systemReason(error);
  const details = { queue: address.told, reason };
  return isRefused ? fault("queue-forbidden", details, error) : fault("queue-unavailable", details, error);
}

const factsOf = (info: string): ReadonlyMap<string, string> =>
  new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(":");
      return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );

/** Of Redis; Valkey tells that it is as good as one of 7.2. */
const leastVersion = [6, 2] as const;

function checkFacts(
  facts: ReadonlyMap<string, string>,
  { told }: QueueAddress,
  onNotice: (sentence: string) => void,
): void {
  const version = facts.get("redis_version");
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
  if (version !== undefined && (major < leastVersion[0] || (major === leastVersion[0] && minor < leastVersion[1])))
    throw fault("queue-unfit", { queue: told, reason: `it is Redis ${version}, and 6.2 is the least` });
  const policy = facts.get("maxmemory_policy");
  if (policy !== undefined && policy !== "noeviction")
    onNotice(
      `${told}: its maxmemory-policy is ${policy}: it may drop jobs when its memory is full; set it to noeviction`,
    );
  if (facts.get("aof_enabled") === "0")
    onNotice(`${told}: it keeps no append-only file: jobs are lost where it restarts; set appendonly to yes`);
}
