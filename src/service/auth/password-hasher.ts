/** Worker thread that computes Argon2id where `node:crypto` lacks it: 40 ms that would block the service. */
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

// One after the other: replies come in the order of the requests.
let last: Promise<void> = Promise.resolve();
parentPort!.on("message", (request: Argon2Request) => {
  last = last.then(async () => parentPort!.postMessage(await compute(request)));
});
