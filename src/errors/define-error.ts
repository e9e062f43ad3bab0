/** The kind of an error: determines the exit status. */
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
