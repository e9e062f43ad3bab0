/** The two cookies of the pages: the browser token, and a notice for the next page. */
import { parseCookie, serializeCookie } from "cookie-es";

export type CookieName = "browser" | "notice";

/**
 * Over HTTPS, the prefix `__Host-` proves that this host set the cookie (RFC 6265bis, 4.1.3.2). Cookies ignore ports,
 * and with this prefix also paths, so that two services on one host need different names.
 */
function cookieName(name: CookieName, base: URL): string {
  const path = base.pathname.replace(/\/+$/, "").replaceAll("/", "!");
  if (base.protocol === "https:") return `__Host-geoferry-${name}${path}`;
  return `geoferry-${name}-${base.port || "80"}${path}`;
}

export function readCookie(header: string | undefined, name: CookieName, base: URL): string | undefined {
  return header === undefined ? undefined : parseCookie(header)[cookieName(name, base)];
}

/** The `Set-Cookie` header of a session cookie; removes the cookie if `value` is null. */
export function serializePageCookie(name: CookieName, value: string | null, base: URL): string {
  return serializeCookie(cookieName(name, base), value ?? "", {
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    secure: base.protocol === "https:",
    ...(value === null && { maxAge: 0 }),
  });
}
