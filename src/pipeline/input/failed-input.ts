/** Records which input caused an error, so that the message names one of many inputs. */
import { asGeoferryError } from "../../errors.js";

const inputsByError = new WeakMap<object, string>();

/** Records the input of an error, unless one is recorded already. @param input as in the request */
export function recordFailedInput(error: unknown, input: string): void {
  if (typeof error === "object" && error !== null && !inputsByError.has(error)) inputsByError.set(error, input);
}

/** The input that caused an error; undefined if the error is about the output or all inputs. */
export function failedInput(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  return inputsByError.get(error) ?? failedInput((error as Error).cause);
}

/** @throws what `work` throws, with the input recorded */
export async function withFailedInput<T>(input: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    recordFailedInput(error, input);
    throw error;
  }
}

/** Kinds of errors that concern one input, so that the others can still be converted. */
const inputErrorKinds = ["input", "unsupported", "unavailable", "authentication"];

/** The input to skip so that the others can be converted; undefined if skipping one does not help. */
export function skippableInput(error: unknown): string | undefined {
  return inputErrorKinds.includes(asGeoferryError(error).kind) ? failedInput(error) : undefined;
}
