/** Flags of the job queue. */
import { createError } from "../../errors.js";
import { parseQueueAddress, type QueueAddress } from "../../jobs/queue/queue-address.js";
import type { Flag } from "../command.js";
import { takes } from "./flag.js";

export interface QueueArguments {
  readonly queue?: string;
  readonly queuePrefix?: string;
}

const defaultQueuePrefix = "geoferry";

export const queueOptions = {
  queue: {
    ...takes("URL"),
    describe:
      "Redis or Valkey server of the queue: redis://HOST:PORT, or rediss:// with TLS; set GEOFERRY_QUEUE instead if it has a password",
  },
  "queue-prefix": {
    ...takes("NAME"),
    describe: "Prefix of the queue's keys",
    defaultDescription: defaultQueuePrefix,
  },
} as const satisfies Readonly<Record<string, Flag>>;

/** @throws queue-address, option-invalid */
export function queueSettings({ queue, queuePrefix = defaultQueuePrefix }: QueueArguments): {
  readonly address: QueueAddress;
  readonly prefix: string;
} | null {
  if (queue === undefined) return null;
  const address = parseQueueAddress(queue);
  const { password, searchParams } = new URL(queue);
  const isSecret = password !== "" || searchParams.has("password");
  if (isSecret && process.argv.some((argument) => argument.includes(queue)))
    throw createError("queue-address", {
      address: address.displayUrl,
      reason: "a command line must not contain passwords",
    });
  if (!/^[\w.-]+$/.test(queuePrefix))
    throw createError("option-invalid", {
      option: "--queue-prefix",
      value: queuePrefix,
      expected: "a name of letters, digits, dots, dashes and underscores",
    });
  return { address, prefix: queuePrefix };
}
