/** Addresses of OGC services. */
import { createError } from "../../../src/errors.js";

export type ServiceKind = "wfs" | "oapif";

/** What a prefix and the messages of a kind are. */
const kinds = {
  wfs: { prefix: /^wfs:/i, label: "WFS", example: "wfs:https://host/path" },
  oapif: { prefix: /^oapif:/i, label: "OGC API Features", example: "oapif:https://host/path" },
} as const;

/** Names of parameters that carry a secret. */
const secretParameter =
  /^(access_?token|token|password|passwd|pwd|api[-_]?key|key|auth[-_]?key|subscription-key|secret)$/i;
const collectionsPath = /\/collections(\/[^/]+(\/items)?)?\/?$/i;

function parseUrl(text: string, kind: ServiceKind): URL | null {
  const plain = text.replace(kinds[kind].prefix, "");
  return /^https?:\/\//i.test(plain) && URL.canParse(plain) ? new URL(plain) : null;
}

/** The value of a parameter whose name is in any case (OGC 09-025r2, 6.2.5.2). */
export function parameterOf(parameters: URLSearchParams, name: string): string | null {
  for (const [key, value] of parameters) if (key.toLowerCase() === name) return value;
  return null;
}

/** Whether the text is the address of a WFS, and not of one of its answers. */
export function isWfsAddress(text: string): boolean {
  if (kinds.wfs.prefix.test(text)) return true;
  const url = parseUrl(text, "wfs");
  if (!url || parameterOf(url.searchParams, "service")?.toLowerCase() !== "wfs") return false;
  return parameterOf(url.searchParams, "request")?.toLowerCase() !== "getfeature";
}

/** Whether the text is the address of collections, a collection or its items (OGC 17-069r4, 7.1). */
export function isFeaturesAddress(text: string): boolean {
  if (kinds.oapif.prefix.test(text)) return true;
  const url = parseUrl(text, "oapif");
  return url !== null && collectionsPath.test(url.pathname);
}

/** The address for messages: without user, password, parameters and fragment. */
export function redactAddress(text: string): string {
  const place = text.replace(/[?#].*$/s, "");
  return place.replace(/^((?:\w+:)?[a-z][a-z0-9+.-]*:[/\\]*)[^/\\]*@/i, "$1");
}

/** The URL of an address. @throws usage if it is none, or contains a secret */
export function parseServiceUrl(text: string, kind: ServiceKind): URL {
  const { label, example } = kinds[kind];
  const refuse = (reason: string) => createError("usage", { reason: `${redactAddress(text)}: ${reason}` });
  const url = parseUrl(text, kind);
  if (!url) throw refuse(`is not an http or https address of a service (${label}), such as ${example}`);
  if (url.username !== "" || url.password !== "")
    throw refuse(
      "contains a user or password; set GEOFERRY_OGC_USER and GEOFERRY_OGC_PASSWORD instead, so that it does not appear in the process list",
    );
  for (const name of url.searchParams.keys())
    if (secretParameter.test(name))
      throw refuse(
        `contains a secret in "${name}"; set GEOFERRY_OGC_PARAMETER to ${name}=… instead, so that it does not appear in the process list`,
      );
  url.hash = "";
  return url;
}

/** A stem for files about a service: the collection or feature type, or the last part of the path. @throws usage */
export function serviceStem(text: string, kind: ServiceKind): string {
  const url = parseServiceUrl(text, kind);
  const named =
    kind === "wfs"
      ? (parameterOf(url.searchParams, "typenames") ?? parameterOf(url.searchParams, "typename"))
      : /\/collections\/([^/]+)/i.exec(url.pathname)?.[1];
  const parts = url.pathname.split("/").filter((part) => part !== "");
  return decode(named ?? parts.at(-1) ?? url.hostname).replace(/[^\p{L}\p{N}._-]+/gu, "_") || kind;
}

export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
