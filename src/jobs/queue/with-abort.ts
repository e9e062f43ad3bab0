import { createError } from "../../errors.js";

/** Redis commands wait until the connection is back; an abort ends the wait. @throws interrupted */
export const withAbort = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(createError("interrupted", {}));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
