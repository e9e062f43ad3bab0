/** Removes secrets from addresses in messages, reports and pages. */
import type { Registry } from "../plugin/registry.js";

/** Removes user, password, query and fragment from a URL. */
export function redactUrl(address: string): string {
  // Object keys may contain any character. Some programs write an access key and its secret before the bucket.
  if (/^s3:/i.test(address)) return address.replace(/^(s3:\/\/)([^/]*:.*|[^/]*)@/is, "$1");
  const beforeQuery = address.replace(/[?#].*$/s, "");
  // A password with an unencoded # or ?: what seems to be a port is none.
  const isCut = /^[a-z][a-z0-9+.-]*:[/\\]*[^/\\:@]*:(?!\d*$)[^/\\@]*$/i.test(beforeQuery) && address.includes("@");
  const place = isCut ? address : beforeQuery;
  // A password with an unencoded slash makes the URL invalid: then everything before the last @ is removed.
  const login = URL.canParse(place) ? /^([a-z][a-z0-9+.-]*:[/\\]*)[^/\\]*@/i : /^([a-z][a-z0-9+.-]*:[/\\]*).*@/is;
  return place.replace(login, "$1").replace(/[?#].*$/s, "");
}

/**
 * The same for the address of a server, which may be invalid: an unencoded password may contain any character, so everything
 * before the last @ goes.
 */
export const redactServer = (text: string): string => redactUrl(text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1"));

/** Removes secrets from an input or output; paths are returned unchanged. */
export function redact(name: string, registry: Pick<Registry, "findByAddress">): string {
  const addresses = registry.findByAddress(name)?.addresses;
  if (addresses) return addresses.redact(name);
  // Also redacts mistyped and prefixed URLs: "http:/user:password@…", "/vsicurl/http://…".
  return name.replace(/[a-z][a-z0-9+.-]+:[/\\]+.*$/is, redactUrl);
}

export const redactEach = (names: readonly string[], registry: Pick<Registry, "findByAddress">): string[] =>
  names.map((name) => redact(name, registry));

/** Redacts inputs and joins them to one line. */
export const redactInputs = (names: readonly string[], registry: Pick<Registry, "findByAddress">): string =>
  redactEach(names, registry).join(", ");
