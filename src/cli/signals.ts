const aborter = new AbortController();

/** Aborted by the first SIGINT, SIGTERM or SIGHUP and when stdout is closed. A second signal exits at once. */
export const interrupted: AbortSignal = aborter.signal;

function interrupt(): void {
  if (interrupted.aborted) process.exit(130);
  aborter.abort();
}

/**
 * Call before loading other modules, so that a signal during start-up is handled, too. SIGUSR1 is ignored, where Node would
 * open its debugger to all users of the machine.
 */
export function listenForSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
  if (process.platform !== "win32") process.on("SIGUSR1", () => {});
}

/** Calls `reload` at SIGHUP, which no longer stops the command. */
export function reloadAtHangup(reload: () => void): void {
  process.removeListener("SIGHUP", interrupt);
  process.on("SIGHUP", reload);
}

let stdoutError: NodeJS.ErrnoException | undefined;

/** The first error of stdout. */
export const getStdoutError = (): NodeJS.ErrnoException | undefined => stdoutError;

/** Whether the reader has closed the pipe of stdout, as `head` does. */
export const isStdoutClosed = (): boolean => stdoutError?.code === "EPIPE";

/** Node ignores SIGPIPE: a closed pipe is a stream error, which is fatal without a listener. */
export function listenForClosedPipes(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    stdoutError ??= error;
    if (isStdoutClosed()) aborter.abort();
  });
  // A closed stderr does not stop a conversion.
  process.stderr.on("error", () => {});
}
