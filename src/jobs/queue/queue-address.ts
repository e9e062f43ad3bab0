import { createError } from "../../errors.js";
import { redactServer } from "../../io/redact.js";

export interface QueueAddress {
  /** With the password; only for connecting. */
  readonly url: string;
  /** Without the password, for messages. */
  readonly displayUrl: string;
}

/** @throws queue-address */
export function parseQueueAddress(text: string): QueueAddress {
  const displayUrl = redactServer(text);
  const invalid = (reason: string) => createError("queue-address", { address: displayUrl, reason });
  if (!URL.canParse(text)) throw invalid("it is not a URL");
  const { protocol, hostname, pathname, username, password } = new URL(text);
  if (protocol !== "redis:" && protocol !== "rediss:") throw invalid("its scheme is not redis: or rediss:");
  if (hostname === "") throw invalid("it has no host");
  if (!/^\/?(\d+)?$/.test(pathname)) throw invalid("its path is not a database number");
  if (![username, password].every(isDecodable))
    throw invalid("its user or password has a % that is not followed by two hexadecimal digits; write it as %25");
  return { url: text, displayUrl };
}

/** The client of Redis decodes user and password. */
function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
