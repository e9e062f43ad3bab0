/** Fills an array with the numbers of several ones. */
export function concatenate<A extends { readonly length: number; set(values: A, at: number): void }>(
  all: A,
  parts: readonly A[],
): A {
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
