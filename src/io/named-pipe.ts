/**
 * Opens named pipes. Opening one usually waits for the program on the other side in a thread of libuv, and Node.js cannot
 * end before that thread does, not even after a second SIGINT.
 */
import { constants, open as openWithCallback } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";

/** Not by `promisify`: every command loads this file, and `node:util` takes a millisecond. */
const open = (path: string, flags: number): Promise<number> =>
  new Promise((resolve, reject) => {
    openWithCallback(path, flags, (error, fd) => (error ? reject(error) : resolve(fd)));
  });

const retryMs = 50;

/** A stream that has no data until a program writes to the pipe, and ends when the last one closes it. */
export async function readNamedPipe(path: string): Promise<Readable> {
  // The socket closes the descriptor.
  const fd = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}

/** Waits until a program reads the pipe. @throws the reason of `signal`, and errors of the system */
export async function writeNamedPipe(path: string, signal?: AbortSignal): Promise<Writable> {
  for (;;) {
    signal?.throwIfAborted();
    try {
      const fd = await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return new Socket({ fd, readable: false, writable: true });
    } catch (error) {
      // No program reads it yet.
      if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw error;
      await delay(retryMs);
    }
  }
}
