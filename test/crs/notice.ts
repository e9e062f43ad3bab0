import type { Operation } from "../../src/crs/index.js";
import { statementsOf } from "../../src/crs/index.js";

/** What is stated about an operation before a position went by it, as one text. */
export const noticeOf = async (operation: Operation): Promise<string> =>
  (await statementsOf(operation, [])).map(({ text }) => text).join("; ");
