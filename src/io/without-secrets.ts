/** Addresses as they may be told: in messages, reports and on pages. */
import type { Registry } from "../plugin/registry.js";

/** An address without what may be secret: user, password, query, fragment. */
export function withoutSecrets(address: string): string {
  // Keys of objects may hold any character; what some programs write before the bucket is a key and its secret.
  if (/^s3:/i.test(address)) return address.replace(/^(s3:\/\/)([^/]*:.*|[^/]*)@/is, "$1");
  return address.replace(/[?#].*$/s, "").replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, "$1");
}

/** An input or output: an address without its secrets, as its format tells them, and a path as it is. */
export function tellable(name: string, registry: Pick<Registry, "ofAddress">): string {
  const addresses = registry.ofAddress(name)?.addresses;
  if (addresses) return addresses.withoutSecrets(name);
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(name) ? withoutSecrets(name) : name;
}

/** Inputs in one line. */
export const tellableInputs = (names: readonly string[], registry: Pick<Registry, "ofAddress">): string =>
  names.map((name) => tellable(name, registry)).join(", ");
