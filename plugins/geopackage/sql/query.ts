import { createRequire } from "node:module";
import { ChildProcessClient } from "../../shared/child-process-client.js";
import type { QueryReply, QueryRequest } from "./query-protocol.js";

/** JavaScript heap limit of the query process: it returns few rows at a time. */
const maxHeapMiB = 256;

/** Queries one view or table in a child process with time and memory limits. */
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
