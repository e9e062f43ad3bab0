/** Waiting for Redis, which may be away. */
import { fault } from "../../errors.js";

/** What is asked of Redis waits until it is back; an interruption does not. @throws interrupted */
export const abortable = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(fault("interrupted", {}));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
