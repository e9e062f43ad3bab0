/** Where a queue is: the address of a Redis or Valkey, which may hold a password and is told without it. */
import { createError } from "../../errors.js";
import { redactUrl } from "../../io/redact.js";

export interface QueueAddress {
  /** With its secrets: for connections alone. */
  readonly url: string;
  /** For people. */
  readonly displayUrl: string;
}

/** Of what is no address, too: a password that should have been encoded may hold any sign. */
const withoutPassword = (text: string): string => redactUrl(text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1"));

/** @throws queue-address */
export function parseQueueAddress(text: string): QueueAddress {
  const displayUrl = withoutPassword(text);
  const wrong = (reason: string) => createError("queue-address", { address: displayUrl, reason });
  if (!URL.canParse(text)) throw wrong("it is no address");
  const { protocol, hostname, pathname } = new URL(text);
  if (protocol !== "redis:" && protocol !== "rediss:") throw wrong("a queue is kept by Redis or Valkey");
  if (hostname === "") throw wrong("it names no host");
  if (!/^\/?(\d+)?$/.test(pathname)) throw wrong("behind the host stands the number of a database");
  return { url: text, displayUrl };
}
