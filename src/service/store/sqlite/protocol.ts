import type { PlainError } from "../../../errors.js";
import type { StoreMethod } from "./store-methods.js";

/** What a thread of the store is started with. */
export type ThreadOptions =
  /** `spooler`: reads pages that are too large for memory, so that nothing else waits for them. */
  | { readonly path: string; readonly role: "reader" | "spooler" }
  /** `keyBatchSize`: `KeyIndexSettings.batchSize`. */
  | { readonly path: string; readonly role: "writer"; readonly keyBatchSize: number };

/** What a store is asked, and what it asks of itself. */
export type ThreadMethod = StoreMethod | "readKeys" | "takeRoom" | "giveRoom";

export type ThreadRequest =
  | { readonly open: true }
  | { readonly id: number; readonly method: ThreadMethod; readonly values: readonly unknown[] }
  | { readonly close: true };

export type ThreadReply =
  /** The database is open, or could not be opened. */
  | { readonly open: true }
  | { readonly open: false; readonly error: PlainError }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: PlainError };
