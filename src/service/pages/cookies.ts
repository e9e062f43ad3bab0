/** The two cookies of the pages: what a browser is known by, and a notice for the next page. */
import { parseCookie, serializeCookie } from "cookie-es";

export type CookieName = "browser" | "notice";

/**
 * Over https with the prefix `__Host-`: only this very host can have set it (RFC 6265bis, 4.1.3.2). Cookies do not
 * know ports, and with that prefix no paths, so that two services on one machine need names of their own.
 */
function cookieName(name: CookieName, base: URL): string {
  const path = base.pathname.replace(/\/+$/, "").replaceAll("/", "!");
  if (base.protocol === "https:") return `__Host-geoferry-${name}${path}`;
  return `geoferry-${name}-${base.port || "80"}${path}`;
}

export function readCookie(header: string | undefined, name: CookieName, base: URL): string | undefined {
  return header === undefined ? undefined : parseCookie(header)[cookieName(name, base)];
}

/** The header `Set-Cookie`. Kept until the browser is closed; taken away where `value` is null. */
export function serializePageCookie(name: CookieName, value: string | null, base: URL): string {
  return serializeCookie(cookieName(name, base), value ?? "", {
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    secure: base.protocol === "https:",
    ...(value === null && { maxAge: 0 }),
  });
}
