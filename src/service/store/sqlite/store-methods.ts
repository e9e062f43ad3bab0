import type { PaginationCursorStore, Store } from "../contract.js";

/** What a store can be asked, without what is about the store itself. */
export type StoreMethod = Exclude<keyof Store, "name" | keyof PaginationCursorStore | typeof Symbol.asyncDispose>;

/** The same questions as a store's, answered at once: they run in a thread of their own. */
export type SyncStoreMethods<Q extends StoreMethod> = {
  readonly [K in Q]: (...values: Parameters<Store[K]>) => Awaited<ReturnType<Store[K]>>;
};
