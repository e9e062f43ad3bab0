import { setTimeout as pause } from "node:timers/promises";
import { createError } from "../errors.js";

/**
 * Waits between 0.5 and 1.5 times `milliseconds`, so that clients waiting for each other do not continue at the same
 * time.
 * @throws interrupted
 */
export async function jitteredPause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds * (0.5 + Math.random()), undefined, { signal }).catch(() => {
    throw createError("interrupted", {});
  });
}
