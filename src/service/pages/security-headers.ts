/** What every answer of the pages tells the browser not to do. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // The map computes in a thread of its own.
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  // The symbols of the map's buttons stand in its style sheet.
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": contentSecurityPolicy,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // Not `no-referrer`: browsers then hide the origin of forms, too, which is checked.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};
