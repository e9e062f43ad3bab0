import { createRequire } from "node:module";
import { ChildProcessClient } from "../../shared/child-process-client.js";
import type { QueryReply, QueryRequest } from "./query-protocol.js";

/** Megabytes of JavaScript's heap that a process for queries may have: rows come in small numbers. */
const maxHeapMiB = 256;

/** One view or table that SQLite is asked for, in a process of its own, with limits of time and memory. */
export type SqliteQuery = ChildProcessClient<QueryRequest, QueryReply>;

export function startQuery(seconds: number, memory: number, signal: AbortSignal): SqliteQuery {
  const path = createRequire(import.meta.url).resolve("#geopackage-query");
  return new ChildProcessClient({
    path,
    label: "SQLite",
    heap: maxHeapMiB,
    seconds,
    memory,
    memoryOption: "viewMemory",
    signal,
  });
}
