/** Connections to Redis. */
import { setTimeout as pause } from "node:timers/promises";
import type { ConnectionOptions } from "bullmq";
import { Redis } from "ioredis";
import { asGeoferryError, createError, type GeoferryError } from "../../errors.js";
import { classifyFirstFailure, classifyNetworkError, type NetworkFailure } from "../../io/http/network-failure.js";
import { networkSettings } from "../../network-settings.js";
import type { QueueAddress } from "./queue-address.js";
import { type Cancellation, cancelChannel } from "./queue-names.js";

/** How long a server that is there takes to answer, in milliseconds, and how often it is asked, where no one says it. */
const usual = { connectTimeout: 5000, timeout: 5000, retries: 0 };

/** Milliseconds between two tries to reach it again. */
const maxReconnectDelayMs = 2000;

const pauseBefore = (times: number): number => Math.min(100 * times, maxReconnectDelayMs);

/** Of connections that wait for a server that is away. */
const reconnectOptions = () => ({
  ...{ maxRetriesPerRequest: null, connectTimeout: networkSettings(usual).connectTimeout },
  retryStrategy: pauseBefore,
});

/** What BullMQ makes its connections of: they say nothing themselves. */
export const connectionOptions = ({ url }: QueueAddress): ConnectionOptions => ({
  ...reconnectOptions(),
  ...{ url, skipVersionCheck: true },
});

/** Told of everything that a connection has to say; what is lost meanwhile is made up for when it is back. */
export const noop = (): void => {};

/** Does what work with a queue needs. @throws what the server says where it does not let this user, or anybody */
export async function checkCommands(redis: Redis, prefix: string): Promise<void> {
  await redis.set(`${prefix}:trial`, "", "PX", 1);
  await redis.eval("return 1", 0);
  await redis.publish(cancelChannel(prefix), JSON.stringify({ runId: "", step: null } satisfies Cancellation));
}

/**
 * A connection for commands, to a server that was seen to be fit.
 * @param prefix of all keys
 * @param onNotice what a person should know
 * @throws queue-unavailable, queue-untrusted, queue-forbidden, queue-not-accepting, queue-incompatible
 */
export async function openRedis(
  address: QueueAddress,
  prefix: string,
  onNotice: (sentence: string) => void,
): Promise<Redis> {
  const { retries } = networkSettings(usual);
  for (let tries = 1; ; tries++)
    try {
      await probed(address, prefix, onNotice);
      return openReconnectingRedis(address);
    } catch (error) {
      if (asGeoferryError(error).code !== "queue-unavailable" || tries > retries) throw error;
      await pause(pauseBefore(tries));
    }
}

/** One look whether the server is fit. @throws queue-… */
async function probed(address: QueueAddress, prefix: string, onNotice: (sentence: string) => void): Promise<void> {
  const { connectTimeout, timeout } = networkSettings(usual);
  const probe = new Redis(address.url, {
    ...{ lazyConnect: true, connectTimeout, commandTimeout: timeout, maxRetriesPerRequest: 0 },
    retryStrategy: () => null,
  });
  let last: Error | undefined;
  probe.on("error", (error) => {
    last = error;
  });
  try {
    await probe.connect();
    const told = parseServerInfo(await probe.info());
    checkServerInfo(told, address, onNotice);
    await checkCommands(probe, prefix);
  } catch (error) {
    throw toConnectionError(address, last ?? error);
  } finally {
    probe.disconnect();
  }
}

/** A connection that waits for a server that is away, and says nothing itself. @param name that Redis lists it with */
export function openReconnectingRedis({ url }: QueueAddress, name?: string): Redis {
  const redis = new Redis(url, { ...reconnectOptions(), ...(name === undefined ? {} : { connectionName: name }) });
  redis.on("error", noop);
  return redis;
}

/** Whether the server answered, and refused. */
export const isRefusal = (error: unknown): boolean => (error as Error).name === "ReplyError";

export function toConnectionError(address: QueueAddress, error: unknown): GeoferryError {
  if ((error as { code?: string }).code === "queue-incompatible") return error as GeoferryError;
  const { message } = error as NodeJS.ErrnoException;
  const isRefused = /NOAUTH|WRONGPASS|NOPERM|invalid password/i.test(message);
  const { reason, isUntrusted } = explainFailure(address, error);
  const details = { queue: address.displayUrl, reason };
  if (isRefused) return createError("queue-forbidden", details, error);
  if (isRefusal(error)) return createError("queue-not-accepting", details, error);
  const code = isUntrusted ? "queue-untrusted" : "queue-unavailable";
  return createError(code, details, error);
}

/** Redis says nothing to who speaks TLS without need, or the other way round: it waits, or breaks off. */
function explainFailure({ url }: QueueAddress, error: unknown): NetworkFailure {
  const failure = classifyFirstFailure(classifyNetworkError(error, "redis"), url);
  const { code } = error as NodeJS.ErrnoException;
  const withReason = (reason: string): NetworkFailure => ({ ...failure, reason });
  if (code === "ECONNREFUSED") return withReason("nobody listens there");
  if (!/^rediss:/i.test(url)) return failure;
  if (code === "ETIMEDOUT") return withReason(`${failure.reason}; where it does not speak TLS, write redis://`);
  if (code === "ECONNRESET" || code === "EPIPE")
    return withReason(`${failure.reason}; where it wants a certificate of each client, set its tls-auth-clients to no`);
  return failure;
}

const parseServerInfo = (info: string): ReadonlyMap<string, string> =>
  new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(":");
      return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );

/** Of Redis; Valkey tells that it is as good as one of 7.2. */
const minRedisVersion = [6, 2] as const;

function checkServerInfo(
  facts: ReadonlyMap<string, string>,
  { displayUrl }: QueueAddress,
  onNotice: (sentence: string) => void,
): void {
  const version = facts.get("redis_version");
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
  if (
    version !== undefined &&
    (major < minRedisVersion[0] || (major === minRedisVersion[0] && minor < minRedisVersion[1]))
  )
    throw createError("queue-incompatible", {
      queue: displayUrl,
      reason: `it is Redis ${version}, and 6.2 is the least`,
    });
  if (facts.get("cluster_enabled") === "1")
    throw createError("queue-incompatible", {
      queue: displayUrl,
      reason: "it is a cluster, whose parts know only some of the keys",
    });
  const policy = facts.get("maxmemory_policy");
  if (policy !== undefined && policy !== "noeviction")
    onNotice(
      `${displayUrl}: its maxmemory-policy is ${policy}: it may drop jobs when its memory is full; set it to noeviction`,
    );
  if (facts.get("aof_enabled") === "0")
    onNotice(`${displayUrl}: it keeps no append-only file: jobs are lost where it restarts; set appendonly to yes`);
}
