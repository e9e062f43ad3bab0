import type { ErrorKind } from "../errors.js";

/** The exit status of each kind of error; 0 is success. */
export const exitStatus: Readonly<Record<ErrorKind, number>> = {
  internal: 1,
  usage: 2,
  input: 3,
  unsupported: 4,
  rejected: 5,
  output: 6,
  guard: 7,
  unavailable: 8,
  authentication: 9,
  conflict: 10,
  locked: 11,
  "unknown-outcome": 12,
  differences: 20,
  interrupted: 130,
  // The status that shells report after SIGPIPE (128 + 13).
  closed: 141,
};

/** From least to most severe. */
const severity = [0, 5, 20, 7, 2, 4, 3, 8, 9, 10, 11, 12, 6, 1, 130, 141];

export function worstStatus(statuses: readonly number[]): number {
  return statuses.reduce((a, b) => (severity.indexOf(b) > severity.indexOf(a) ? b : a), 0);
}
