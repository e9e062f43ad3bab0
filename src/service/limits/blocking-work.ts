import { setTimeout as pause } from "node:timers/promises";

/** Maximum pause after a step, in milliseconds. */
const maxPauseMs = 1000;

/**
 * Runs long synchronous steps of all requests one at a time. Each is followed by a pause of the same duration, in which
 * other requests run: a request waits for one step, not for those of all concurrent requests.
 */
export class BlockingWork {
  private previous: Promise<unknown> = Promise.resolve();

  run<T>(step: () => T): Promise<T> {
    let elapsed = 0;
    const result = this.previous.then(() => {
      const start = performance.now();
      try {
        return step();
      } finally {
        elapsed = performance.now() - start;
      }
    });
    const rest = () => pause(Math.min(elapsed, maxPauseMs));
    this.previous = result.then(rest, rest);
    return result;
  }
}

const steps = new BlockingWork();

/** Characters of JSON that take some 20 ms to parse in the worst case, that of many small arrays. */
const longText = 256 * 1024;

/** Runs a step at once, or among the long steps of this thread if it parses a long text. */
export const parseInTurn = <T>(text: string, step: () => T): T | Promise<T> =>
  text.length < longText ? step() : steps.run(step);
