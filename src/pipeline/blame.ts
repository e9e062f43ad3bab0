/** Which input an error is about, so that a message about one of many names it. */
import { asGeoferryError } from "../errors.js";

const inputs = new WeakMap<object, string>();

/** Notes that an error came from an input; the first to say so is right. @param input as it was asked for */
export function blame(error: unknown, input: string): void {
  if (typeof error === "object" && error !== null && !inputs.has(error)) inputs.set(error, input);
}

/** The input that an error came from; undefined where it is about the output, or about all of them. */
export function inputBehind(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  return inputs.get(error) ?? inputBehind((error as Error).cause);
}

/** @throws what the work throws, with the input noted */
export async function blaming<T>(input: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    blame(error, input);
    throw error;
  }
}

/** What is wrong with an input itself, or with reaching it: others may well be converted. */
const ownFaults = ["input", "unsupported", "unavailable", "authentication"];

/** The input without which the others may be converted; undefined where leaving one out does not help. */
export function dispensable(error: unknown): string | undefined {
  return ownFaults.includes(asGeoferryError(error).kind) ? inputBehind(error) : undefined;
}
