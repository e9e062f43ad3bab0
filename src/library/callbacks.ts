/** Errors of the caller's callbacks, which calls rethrow unchanged. */

/** Carries an error of a callback through the pipeline, which wraps errors as causes of others. */
class CallbackError extends Error {
  constructor(readonly thrown: unknown) {
    super("a callback failed", { cause: thrown });
  }
}

/** A callback whose errors `findCallbackError` recognizes. */
export function markErrors<A extends unknown[], R>(callback: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    try {
      const result = callback(...args);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: unknown) => {
        throw new CallbackError(error);
      }) as R;
    } catch (error) {
      throw new CallbackError(error);
    }
  };
}

/** What a callback threw, if an error is caused by it. */
export function findCallbackError(error: unknown): { readonly thrown: unknown } | null {
  const seen = new Set<unknown>();
  for (let cause = error; cause instanceof Error && !seen.has(cause); cause = cause.cause) {
    if (cause instanceof CallbackError) return cause;
    seen.add(cause);
  }
  return null;
}
