/** Resources that the system limits, by the code of its error. */
const resources: ReadonlyMap<unknown, { readonly reason: string; readonly remedy: string }> = new Map([
  ["EMFILE", { reason: "too many open files", remedy: "raise the limit of open files (ulimit -n)" }],
  ["ENFILE", { reason: "too many open files on the whole system", remedy: "end other programs" }],
  ["ENOMEM", { reason: "not enough memory", remedy: "end other programs, or raise the limit of memory" }],
]);

/** What an error of the system or of Node.js says to be exhausted, and what to do; undefined for other errors. */
export function findExhaustedResource(
  error: unknown,
): { readonly reason: string; readonly remedy: string } | undefined {
  const { code, message }: { code?: unknown; message?: unknown } = Object(error);
  // "Worker initialization failure: EMFILE"
  const cause = code === "ERR_WORKER_INIT_FAILED" ? /[A-Z]+$/.exec(String(message))?.[0] : code;
  return resources.get(cause);
}
