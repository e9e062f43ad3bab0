/** The two cookies of the pages: what a browser is known by, and a notice for the next page. */
import { parseCookie, serializeCookie } from "cookie-es";

export type CookieName = "browser" | "notice";

/**
 * Over https with the prefix `__Host-`: only this very host can have set it (RFC 6265bis, 4.1.3.2). Cookies do not
 * know ports, so that two services on one machine without https need names of their own.
 */
function fullName(name: CookieName, ownOrigin: URL): string {
  if (ownOrigin.protocol === "https:") return `__Host-geoferry-${name}`;
  return `geoferry-${name}-${ownOrigin.port || "80"}`;
}

export function readCookie(header: string | undefined, name: CookieName, ownOrigin: URL): string | undefined {
  return header === undefined ? undefined : parseCookie(header)[fullName(name, ownOrigin)];
}

/** The header `Set-Cookie`. Kept until the browser is closed; taken away where `value` is null. */
export function cookie(name: CookieName, value: string | null, ownOrigin: URL): string {
  return serializeCookie(fullName(name, ownOrigin), value ?? "", {
    path: "/",
    httpOnly: true,
    sameSite: "lax",
    secure: ownOrigin.protocol === "https:",
    ...(value === null && { maxAge: 0 }),
  });
}
