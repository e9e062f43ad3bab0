/** Wraps the method calls of a store, for metrics and traces. */
import type { Store } from "./contract.js";

/** A method of a store. */
export type StoreCall = (...values: unknown[]) => unknown;

/** Returns a store whose methods are replaced by the results of `wrap`, which is called once per method. */
export function wrapStoreCalls(store: Store, wrap: (name: string, call: StoreCall) => StoreCall): Store {
  const known = new Map<PropertyKey, unknown>();
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      if (!known.has(name)) {
        const call = (member as StoreCall).bind(target);
        known.set(name, typeof name === "string" ? wrap(name, call) : call);
      }
      return known.get(name);
    },
  });
}
