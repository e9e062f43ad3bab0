/**
 * Lists the connected workers. Each worker names one of its connections; Redis lists the name while the connection lasts,
 * even if the worker is busy.
 */
import type { Redis } from "ioredis";

export interface ConnectedWorker {
  /** Unique id of the worker. */
  readonly id: string;
  /** Version of geoferry. */
  readonly version: string;
}

const start = (prefix: string): string => `geoferry-worker:${prefix}:`;

/** The name of a worker's pub/sub connection. Redis does not allow spaces in it. */
export const connectionName = (prefix: string, { id, version }: ConnectedWorker): string =>
  `${start(prefix)}${version}:${id}`;

/** @returns null if the server does not let this user list connections */
export async function listConnectedWorkers(redis: Redis, prefix: string): Promise<readonly ConnectedWorker[] | null> {
  let list: string;
  try {
    list = String(await redis.call("CLIENT", "LIST", "TYPE", "pubsub"));
  } catch {
    return null;
  }
  return list.split("\n").flatMap((line) => {
    const name = /(?:^| )name=(\S+)/.exec(line)?.[1];
    if (!name?.startsWith(start(prefix))) return [];
    const [version = "", id = ""] = name.slice(start(prefix).length).split(":");
    return [{ id, version }];
  });
}

/** "2 of 0.0.9 and 1 of 0.1.0" */
function formatVersionCounts(workers: readonly ConnectedWorker[]): string {
  const counts = new Map<string, number>();
  for (const { version } of workers) counts.set(version, (counts.get(version) ?? 0) + 1);
  const parts = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([version, count]) => `${count} of ${version}`);
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** @param queue its address, without secrets @returns the connected versions, and advice if none is this version */
export function describeWorkers(workers: readonly ConnectedWorker[], version: string, queue: string): string {
  const own = workers.filter((worker) => worker.version === version).length;
  const others = workers.filter((worker) => worker.version !== version);
  if (own === 0) {
    const found = others.length === 0 ? "" : `, but ${formatVersionCounts(others)}, which take no jobs of this version`;
    return `no worker of geoferry ${version} is connected to ${queue}${found}; start one with geoferry worker --queue ${queue}`;
  }
  const more =
    others.length === 0 ? "" : `; workers of other versions take no jobs of this one: ${formatVersionCounts(others)}`;
  return `connected to ${queue}: ${own} ${own === 1 ? "worker" : "workers"} of geoferry ${version}${more}`;
}
