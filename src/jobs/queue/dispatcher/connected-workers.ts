/**
 * Which workers are connected: each gives one of its connections a name, which Redis lists for as long as the connection
 * lasts, whatever the worker is doing.
 */
import type { Redis } from "ioredis";

export interface ConnectedWorker {
  /** Of its process. */
  readonly id: string;
  /** Of geoferry. */
  readonly version: string;
}

const start = (prefix: string): string => `geoferry-worker:${prefix}:`;

/** The name of a connection that subscribes to a channel; Redis allows no spaces in it. */
export const connectionName = (prefix: string, { id, version }: ConnectedWorker): string =>
  `${start(prefix)}${version}:${id}`;

/** @returns null where the server does not list connections to this user */
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

/** @param queue its address, without secrets @returns which versions are connected, and what to do where that is none of ours */
export function describeWorkers(workers: readonly ConnectedWorker[], version: string, queue: string): string {
  const own = workers.filter((worker) => worker.version === version).length;
  const others = workers.filter((worker) => worker.version !== version);
  if (own === 0) {
    const there = others.length === 0 ? "" : `, but ${formatVersionCounts(others)}, which take no jobs of this version`;
    return `no worker of geoferry ${version} is connected to ${queue}${there}: start one with geoferry worker --queue ${queue}`;
  }
  const more =
    others.length === 0 ? "" : `; others, which take no jobs of this version: ${formatVersionCounts(others)}`;
  return `connected to ${queue}: ${own} ${own === 1 ? "worker" : "workers"} of geoferry ${version}${more}`;
}
