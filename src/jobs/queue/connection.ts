import { setTimeout as pause } from "node:timers/promises";
import type { ConnectionOptions } from "bullmq";
import { Redis } from "ioredis";
import { asGeoferryError, createError, type GeoferryError } from "../../errors.js";
import { classifyFirstFailure, classifyNetworkError, type NetworkFailure } from "../../io/http/network-failure.js";
import { networkSettings } from "../../network-settings.js";
import type { QueueAddress } from "./queue-address.js";
import { type Cancellation, cancelChannel } from "./queue-names.js";

/** Defaults; milliseconds. */
const defaults = { connectTimeout: 5000, timeout: 5000, retries: 0 };

const maxReconnectDelayMs = 2000;

const reconnectDelayMs = (attempt: number): number => Math.min(100 * attempt, maxReconnectDelayMs);

/** For connections that reconnect without limit. */
const reconnectOptions = () => ({
  ...{ maxRetriesPerRequest: null, connectTimeout: networkSettings(defaults).connectTimeout },
  retryStrategy: reconnectDelayMs,
});

/** Options for connections that BullMQ opens itself. */
export const connectionOptions = ({ url }: QueueAddress): ConnectionOptions => ({
  ...reconnectOptions(),
  ...{ url, skipVersionCheck: true },
});

/** Listener for errors of connections that reconnect: polling makes up for missed events. */
export const noop = (): void => {};

/** Runs the kinds of commands that a queue needs. @throws the server's error if it refuses one of them */
export async function checkCommands(redis: Redis, prefix: string): Promise<void> {
  await redis.set(`${prefix}:trial`, "", "PX", 1);
  await redis.eval("return 1", 0);
  await redis.publish(cancelChannel(prefix), JSON.stringify({ runId: "", step: null } satisfies Cancellation));
}

/**
 * Checks the server and opens a connection for commands.
 * @param prefix of all keys
 * @param onNotice called with warnings for the user
 * @throws queue-unavailable, queue-untrusted, queue-forbidden, queue-not-accepting, queue-incompatible
 */
export async function openRedis(
  address: QueueAddress,
  prefix: string,
  onNotice: (sentence: string) => void,
): Promise<Redis> {
  const { retries } = networkSettings(defaults);
  for (let attempt = 1; ; attempt++)
    try {
      await checkServer(address, prefix, onNotice);
      return openReconnectingRedis(address);
    } catch (error) {
      if (asGeoferryError(error).code !== "queue-unavailable" || attempt > retries) throw error;
      await pause(reconnectDelayMs(attempt));
    }
}

/** @throws queue-… if the server cannot hold a queue */
async function checkServer(address: QueueAddress, prefix: string, onNotice: (sentence: string) => void): Promise<void> {
  const { connectTimeout, timeout } = networkSettings(defaults);
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
    checkServerInfo(parseServerInfo(await probe.info()), address, onNotice);
    await checkCommands(probe, prefix);
  } catch (error) {
    throw toConnectionError(address, last ?? error);
  } finally {
    probe.disconnect();
  }
}

/** A connection that reconnects without limit and reports no errors. @param name in the connection list of Redis */
export function openReconnectingRedis({ url }: QueueAddress, name?: string): Redis {
  const redis = new Redis(url, { ...reconnectOptions(), ...(name === undefined ? {} : { connectionName: name }) });
  redis.on("error", noop);
  return redis;
}

/** Whether the server answered with an error. */
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

/** Adds hints: Redis sends no error when client and server disagree on TLS, it waits or closes the connection. */
function explainFailure({ url }: QueueAddress, error: unknown): NetworkFailure {
  const failure = classifyFirstFailure(classifyNetworkError(error, "redis"), url);
  const { code } = error as NodeJS.ErrnoException;
  const withReason = (reason: string): NetworkFailure => ({ ...failure, reason });
  if (code === "ECONNREFUSED") return withReason("connection refused: no server listens there");
  if (!/^rediss:/i.test(url)) return failure;
  if (code === "ETIMEDOUT") return withReason(`${failure.reason}; if the server does not use TLS, write redis://`);
  if (code === "ECONNRESET" || code === "EPIPE")
    return withReason(`${failure.reason}; if the server requires client certificates, set its tls-auth-clients to no`);
  return failure;
}

const parseServerInfo = (info: string): ReadonlyMap<string, string> =>
  new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(":");
      return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );

/** Valkey reports 7.2 as its Redis version. */
const minRedisVersion = [6, 2] as const;

function checkServerInfo(
  info: ReadonlyMap<string, string>,
  { displayUrl }: QueueAddress,
  onNotice: (sentence: string) => void,
): void {
  const version = info.get("redis_version");
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
  if (
    version !== undefined &&
    (major < minRedisVersion[0] || (major === minRedisVersion[0] && minor < minRedisVersion[1]))
  )
    throw createError("queue-incompatible", {
      queue: displayUrl,
      reason: `it is Redis ${version}; version 6.2 or later is required`,
    });
  if (info.get("cluster_enabled") === "1")
    throw createError("queue-incompatible", {
      queue: displayUrl,
      reason: "it runs in cluster mode, which spreads the keys of a queue over several nodes",
    });
  const policy = info.get("maxmemory_policy");
  if (policy !== undefined && policy !== "noeviction")
    onNotice(
      `${displayUrl}: maxmemory-policy is ${policy}, so Redis may evict jobs when its memory is full; set it to noeviction`,
    );
  if (info.get("aof_enabled") === "0")
    onNotice(`${displayUrl}: appendonly is off, so a restart of Redis loses jobs; set it to yes`);
}
