/** One entry of the registry of errors: its kind and how its message is made of the details. */

/** What went wrong, in the sense of who can do something about it. */
export type ErrorKind =
  | "internal"
  | "usage"
  | "input"
  | "unsupported"
  | "rejected"
  | "output"
  | "guard"
  | "unavailable"
  | "authentication"
  | "conflict"
  | "locked"
  | "unknown-outcome"
  | "differences"
  | "interrupted"
  | "closed";

export interface ErrorDefinition<D> {
  readonly kind: ErrorKind;
  readonly message: (details: D) => string;
}

export const defineError = <D>(kind: ErrorKind, message: (details: D) => string): ErrorDefinition<D> => ({
  kind,
  message,
});
