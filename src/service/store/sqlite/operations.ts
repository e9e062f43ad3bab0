import type { PageEndStore, Store } from "../contract.js";

/** What a store can be asked, without what is about the store itself. */
export type Question = Exclude<keyof Store, "name" | keyof PageEndStore | typeof Symbol.asyncDispose>;

/** The same questions as a store's, answered at once: they run in a thread of their own. */
export type Operations<Q extends Question> = {
  readonly [K in Q]: (...values: Parameters<Store[K]>) => Awaited<ReturnType<Store[K]>>;
};
