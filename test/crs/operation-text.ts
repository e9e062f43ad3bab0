import type { Operation } from "../../src/crs/index.js";
import { operationNotes } from "../../src/crs/index.js";

/** What is stated about an operation before a position went by it, as one text. */
export const operationText = async (operation: Operation): Promise<string> =>
  (await operationNotes(operation, [])).map(({ text }) => text).join("; ");
