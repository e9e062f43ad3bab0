import type { ServiceResponseHeaders } from "./send-request.js";

/** The address of `Link: <…>; rel="next"` (RFC 8288); undefined without one. */
export const nextPageAddress = ({ link = [] }: ServiceResponseHeaders): string | undefined =>
  /<([^>]*)>\s*;[^,]*\brel="?next"?/i.exec([link].flat().join(", "))?.[1];
