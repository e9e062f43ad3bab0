const aborter = new AbortController();

/** Aborted by the first SIGINT or SIGTERM; the second ends the process at once. */
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
