/** Addresses as they may be told: in messages, reports and on pages. */
import type { Registry } from "../plugin/registry.js";

/** An address without what may be secret: user, password, query, fragment. */
export function redactUrl(address: string): string {
  // Keys of objects may hold any character; what some programs write before the bucket is a key and its secret.
  if (/^s3:/i.test(address)) return address.replace(/^(s3:\/\/)([^/]*:.*|[^/]*)@/is, "$1");
  const place = address.replace(/[?#].*$/s, "");
  // A password with a slash that is written as it is makes no address: then it is all that stands before the last @.
  const login = URL.canParse(place) ? /^([a-z][a-z0-9+.-]*:[/\\]*)[^/\\]*@/i : /^([a-z][a-z0-9+.-]*:[/\\]*).*@/is;
  return place.replace(login, "$1");
}

/** An input or output: an address without its secrets, as its format tells them, and a path as it is. */
export function redact(name: string, registry: Pick<Registry, "findByAddress">): string {
  const addresses = registry.findByAddress(name)?.addresses;
  if (addresses) return addresses.redact(name);
  // Also one that is mistyped, or behind the name of a program or a folder: "http:/user:password@…", "/vsicurl/http://…".
  return name.replace(/[a-z][a-z0-9+.-]+:[/\\]+.*$/is, redactUrl);
}

/** Inputs in one line. */
export const redactInputs = (names: readonly string[], registry: Pick<Registry, "findByAddress">): string =>
  names.map((name) => redact(name, registry)).join(", ");
