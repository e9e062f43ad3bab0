import type { PlainError } from "../../../errors.js";
import type { StoreMethod } from "./store-methods.js";

/** Options with which a thread of the store is started. */
export type ThreadOptions =
  /** A `spooler` reads pages that are too large for memory, so that they do not delay other reads. */
  | { readonly path: string; readonly role: "reader" | "spooler" }
  /** `keyBatchSize`: `KeyIndexSettings.batchSize`. */
  | { readonly path: string; readonly role: "writer"; readonly keyBatchSize: number };

/** Methods of the store, and internal ones. */
export type ThreadMethod = StoreMethod | "readKeys" | "reserveSpace" | "releaseSpace";

export type ThreadRequest =
  | { readonly open: true }
  | { readonly id: number; readonly method: ThreadMethod; readonly values: readonly unknown[] }
  | { readonly close: true };

export type ThreadReply =
  /** The result of opening the database. */
  | { readonly open: true }
  | { readonly open: false; readonly error: PlainError }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: PlainError };
