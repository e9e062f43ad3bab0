import { setTimeout as pause } from "node:timers/promises";
import { createError } from "../errors.js";

/**
 * Waits between a half and three halves of `milliseconds`, so that clients that wait for each other do not go on at the
 * same moment.
 * @throws interrupted
 */
export async function jitteredPause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds * (0.5 + Math.random()), undefined, { signal }).catch(() => {
    throw createError("interrupted", {});
  });
}
