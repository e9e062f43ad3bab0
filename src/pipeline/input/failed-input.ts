/** Which input an error is about, so that a message about one of many names it. */
import { asGeoferryError } from "../../errors.js";

const inputsByError = new WeakMap<object, string>();

/** Notes that an error came from an input; the first to say so is right. @param input as it was asked for */
export function recordFailedInput(error: unknown, input: string): void {
  if (typeof error === "object" && error !== null && !inputsByError.has(error)) inputsByError.set(error, input);
}

/** The input that an error came from; undefined where it is about the output, or about all of them. */
export function failedInput(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  return inputsByError.get(error) ?? failedInput((error as Error).cause);
}

/** @throws what the work throws, with the input noted */
export async function withFailedInput<T>(input: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    recordFailedInput(error, input);
    throw error;
  }
}

/** What is wrong with an input itself, or with reaching it: others may well be converted. */
const inputErrorKinds = ["input", "unsupported", "unavailable", "authentication"];

/** The input without which the others may be converted; undefined where leaving one out does not help. */
export function skippableInput(error: unknown): string | undefined {
  return inputErrorKinds.includes(asGeoferryError(error).kind) ? failedInput(error) : undefined;
}
