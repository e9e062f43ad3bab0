import * as crypto from "node:crypto";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";

/** Parameters of Argon2id (RFC 9106, 3.1). */
export interface Argon2Parameters {
  /** KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  /** Bytes of the tag. */
  readonly tagLength: number;
}

export interface Argon2Request extends Argon2Parameters {
  readonly message: Uint8Array;
  readonly nonce: Uint8Array;
}

export type Argon2Reply = { readonly tag: Uint8Array } | { readonly error: string };

type NodeArgon2 = (
  algorithm: "argon2id",
  request: Argon2Request,
  callback: (error: Error, tag: Buffer) => void,
) => void;

/** Computes an Argon2id tag off the main thread, with the same result on every version of Node.js. */
export const argon2id: (request: Argon2Request) => Promise<Uint8Array> = createArgon2();

function createArgon2(): (request: Argon2Request) => Promise<Uint8Array> {
  // Available since Node.js 24.7; the types of Node.js 20 lack it.
  const { argon2 } = crypto as { argon2?: NodeArgon2 };
  if (!argon2) return (request) => thread.compute(request);
  const compute = promisify(argon2);
  return (request) => compute("argon2id", request);
}

/** Worker thread with the WebAssembly implementation; starts with the first request. */
class HashingThread {
  private worker: Worker | null = null;
  private readonly waiting: { resolve(tag: Uint8Array): void; reject(error: Error): void }[] = [];

  compute(request: Argon2Request): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.worker ??= this.start();
      this.waiting.push({ resolve, reject });
      // Only a pending request keeps the process alive.
      this.worker.ref();
      this.worker.postMessage(request);
    });
  }

  private start(): Worker {
    const worker = new Worker(createRequire(import.meta.url).resolve("#password-hasher"));
    worker.on("message", (reply: Argon2Reply) => {
      const request = this.waiting.shift()!;
      if (this.waiting.length === 0) worker.unref();
      if ("tag" in reply) request.resolve(reply.tag);
      else request.reject(new Error(reply.error));
    });
    worker.on("error", (error) => {
      this.worker = null;
      for (const request of this.waiting.splice(0)) request.reject(error);
    });
    return worker;
  }
}

const thread = new HashingThread();
