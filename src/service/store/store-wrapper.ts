/** A store whose calls are watched: of each, what is asked and what comes of it goes through somebody else. */
import type { Store } from "./contract.js";

/** One of a store, of whatever it takes and gives. */
export type StoreCall = (...values: unknown[]) => unknown;

/** The same store, of which each call is made by what `around` makes of it; asked once for each name. */
export function wrapStoreCalls(store: Store, around: (name: string, call: StoreCall) => StoreCall): Store {
  const known = new Map<PropertyKey, unknown>();
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      if (!known.has(name)) {
        const call = (member as StoreCall).bind(target);
        known.set(name, typeof name === "string" ? around(name, call) : call);
      }
      return known.get(name);
    },
  });
}
