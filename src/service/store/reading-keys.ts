/** How the keys of a large map are read where a field is named for the first time: in steps, between other writes. */
import { problem } from "../problems.js";
import type { WriteOutcome } from "./contract.js";

/** Nothing of the request is done: the keys of some more features were read, and there are others. */
export interface ReadingKeys {
  readonly kind: "reading-keys";
}

export interface KeyReading {
  /** Features whose keys are read in one transaction: what other writes wait for. */
  readonly atOnce: number;
  /** Milliseconds that a request goes on with it, before it is told to come again. */
  readonly patience: number;
}

/** Below the half minute after which many clients and proxies give up. */
export const usualPatience = 20_000;
/** Seconds: what was read is kept, and the next request goes on. */
const retryAfter = 1;

/**
 * Asks again and again, a transaction each time, until the keys that a request matches by are read and it is done.
 * @throws reading-keys of the service's problems once it has taken `patience`; nothing of the request is done then
 */
export async function untilKeysAreRead<O extends { readonly kind: WriteOutcome["kind"] }>(
  patience: number,
  ask: () => Promise<O | ReadingKeys>,
): Promise<O> {
  const end = performance.now() + patience;
  for (;;) {
    const outcome = await ask();
    if (!isReading(outcome)) return outcome;
    if (performance.now() >= end) throw problem("reading-keys", {}, { headers: { "retry-after": String(retryAfter) } });
  }
}

const isReading = (outcome: { readonly kind: string }): outcome is ReadingKeys => outcome.kind === "reading-keys";
