import type { PaginationCursorStore, Store } from "../contract.js";

/** Methods of a store that run in its threads. */
export type StoreMethod = Exclude<keyof Store, "name" | keyof PaginationCursorStore | typeof Symbol.asyncDispose>;

/** The same methods, synchronous, as they run in a thread. */
export type SyncStoreMethods<Q extends StoreMethod> = {
  readonly [K in Q]: (...values: Parameters<Store[K]>) => Awaited<ReturnType<Store[K]>>;
};
