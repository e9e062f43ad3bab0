/**
 * Worker thread that computes Argon2id if `node:crypto` lacks it. A hash takes 40 ms, which would block the main
 * thread.
 */
import { parentPort } from "node:worker_threads";
import { argon2id } from "hash-wasm";
import type { Argon2Reply, Argon2Request } from "./argon2.js";

async function compute({
  message,
  nonce,
  memory,
  passes,
  parallelism,
  tagLength,
}: Argon2Request): Promise<Argon2Reply> {
  try {
    const tag = await argon2id({
      password: message,
      salt: nonce,
      memorySize: memory,
      iterations: passes,
      parallelism,
      hashLength: tagLength,
      outputType: "binary",
    });
    return { tag };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

// Requests run one at a time, so that replies arrive in order.
let last: Promise<void> = Promise.resolve();
parentPort!.on("message", (request: Argon2Request) => {
  last = last.then(async () => parentPort!.postMessage(await compute(request)));
});
