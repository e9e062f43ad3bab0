import { readFileSync } from "node:fs";

const aborter = new AbortController();

/** Aborted by the first SIGINT, SIGTERM or SIGHUP and when stdout is closed. A second signal exits at once. */
export const interrupted: AbortSignal = aborter.signal;

/** Call before loading other modules, so that a signal during start-up is handled, too. */
export function listenForSignals(): void {
  const interrupt = () => {
    if (interrupted.aborted) process.exit(130);
    aborter.abort();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  if (canHangUp()) process.on("SIGHUP", interrupt);
}

/** Whether the end of the terminal ends this process; not if it was started with `nohup`, which a listener would undo. */
function canHangUp(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return mask !== undefined && (BigInt(`0x${mask}`) & 1n) === 0n;
  } catch {
    // Without the file system of Linux, it cannot be known.
    return false;
  }
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
