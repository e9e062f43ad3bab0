/** Security headers of all pages. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  // The map library uses a web worker.
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self'",
  // The style sheet of the map library contains icons as data URLs.
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": contentSecurityPolicy,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // With `no-referrer`, browsers hide the origin of forms, which is checked.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
};
