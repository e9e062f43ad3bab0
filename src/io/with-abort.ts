import { createError } from "../errors.js";

/** Waits for work that does not end by itself when the signal is aborted. @throws interrupted, and what the work throws */
export const withAbort = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(createError("interrupted", {}, signal.reason));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
