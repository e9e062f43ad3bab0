const aborter = new AbortController();

/** Aborted by the first SIGINT or SIGTERM, whose second ends the process at once, and where stdout is closed. */
export const interrupted: AbortSignal = aborter.signal;

/** Begins to listen, before anything else is loaded: a signal at start must end like any other. */
export function listenForSignals(): void {
  const interrupt = () => {
    if (interrupted.aborted) process.exit(130);
    aborter.abort();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
}

let stdoutError: NodeJS.ErrnoException | undefined;

/** What went wrong with stdout, be it with features or with records. */
export const getStdoutError = (): NodeJS.ErrnoException | undefined => stdoutError;

/** Whether the reader of stdout has closed it, as `head` does when it has enough: there is no one left to tell. */
export const isStdoutClosed = (): boolean => stdoutError?.code === "EPIPE";

/** Node ignores SIGPIPE: a pipe that is closed at its other end is an error of the stream, and fatal if no one listens. */
export function listenForClosedPipes(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    stdoutError ??= error;
    if (isStdoutClosed()) aborter.abort();
  });
  // No one reads the messages any more; the conversion goes on all the same.
  process.stderr.on("error", () => {});
}
