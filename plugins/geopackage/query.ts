import { createRequire } from "node:module";
import { AskedProcess } from "../shared/asked-process.js";
import type { QueryReply, QueryRequest } from "./query-protocol.js";

/** Megabytes of JavaScript's heap that a process for queries may have: rows come in small numbers. */
const heap = 256;

/** One view or table that SQLite is asked for, in a process of its own, with limits of time and memory. */
export type Query = AskedProcess<QueryRequest, QueryReply>;

export function startQuery(seconds: number, memory: number, signal: AbortSignal): Query {
  const path = createRequire(import.meta.url).resolve("#geopackage-query");
  return new AskedProcess({ path, label: "SQLite", heap, seconds, memory, memoryOption: "viewMemory", signal });
}
