/** Waiting for Redis, which may be away. */
import { createError } from "../../errors.js";

/** What is asked of Redis waits until it is back; an interruption does not. @throws interrupted */
export const withAbort = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(createError("interrupted", {}));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
