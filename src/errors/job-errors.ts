/** What stops a job or one of its steps: part of the registry in src/errors.ts. */
import { defineError, type ErrorDefinition } from "./define-error.js";

/** What it costs to begin without what a job remembers. */
const restartAdvice =
  "move it away and run the job again: then every source is converted once more, steps with append add theirs a second time, outputs that are there count as somebody else's (overwrite: true replaces them), and earlier runs are forgotten; maps are safe";

export const jobErrors = {
  "job-invalid": defineError<{ file: string; line: number; column: number; reason: string }>(
    "usage",
    (e) => `${e.file}:${e.line}:${e.column}: ${e.reason}`,
  ),
  "job-locked": defineError<{ job: string; holder: string | null }>(
    "locked",
    (e) =>
      `job ${e.job}: another run of it is at work${e.holder === null ? "" : ` (${e.holder})`}; try again when it has finished, or wait for that with --wait`,
  ),
  "job-overdue": defineError<{ job: string; holder: string; hours: number }>(
    "guard",
    (e) =>
      `job ${e.job}: another run of it is still at work (${e.holder}), longer than the ${e.hours} h that overdueAfter allows: end that process if it hangs, or allow more`,
  ),
  "job-state-damaged": defineError<{ path: string; reason: string }>(
    "input",
    (e) => `${e.path}: what the job remembers from run to run cannot be read: ${e.reason}; ${restartAdvice}`,
  ),
  "job-state-newer": defineError<{ path: string }>(
    "unsupported",
    (e) =>
      `${e.path}: a later geoferry wrote what the job remembers from run to run; use that one, or ${restartAdvice}`,
  ),
  "step-timeout": defineError<{ step: string; seconds: number }>(
    "unavailable",
    (e) =>
      `step ${e.step}: was not done within its timeout of ${e.seconds} s; what it had begun is finished by the next run`,
  ),
  "step-skipped": defineError<{ step: string; need: string }>(
    "conflict",
    (e) =>
      `step ${e.step}: not begun, since "${e.need}", which it needs, was not done; it is begun once that step succeeds`,
  ),
  "queue-address": defineError<{ address: string; reason: string }>(
    "usage",
    (e) =>
      `--queue ${e.address}: ${e.reason}; it is like redis://host:6379/0, with TLS rediss://host:6380/0, and user and password stand in GEOFERRY_QUEUE`,
  ),
  "queue-unavailable": defineError<{ queue: string; reason: string }>(
    "unavailable",
    (e) => `${e.queue}: the queue does not answer: ${e.reason}; is Redis running there? Try again later`,
  ),
  "queue-untrusted": defineError<{ queue: string; reason: string }>(
    "authentication",
    (e) =>
      `${e.queue}: the certificate of the queue cannot be verified: ${e.reason}; where an authority of your own signed it, set NODE_EXTRA_CA_CERTS to the file of that authority's certificate`,
  ),
  "queue-forbidden": defineError<{ queue: string; reason: string }>(
    "authentication",
    (e) =>
      `${e.queue}: the queue does not let this user in: ${e.reason}; set GEOFERRY_QUEUE with user and password: redis://user:password@host`,
  ),
  "queue-not-accepting": defineError<{ queue: string; reason: string }>(
    "unavailable",
    (e) => `${e.queue}: the queue takes no jobs: ${e.reason}`,
  ),
  "queue-incompatible": defineError<{ queue: string; reason: string }>(
    "unsupported",
    (e) => `${e.queue}: cannot keep a queue: ${e.reason}`,
  ),
  "worker-incompatible": defineError<{ worker: string; reason: string }>(
    "unavailable",
    (e) => `worker ${e.worker} refuses it: ${e.reason}`,
  ),
  "worker-lost": defineError<{ what: string; reason: string }>(
    "unavailable",
    (e) => `${e.what}: not done, since ${e.reason}; what it had begun is finished by the next run`,
  ),
  "append-interrupted": defineError<{ map: string }>(
    "unknown-outcome",
    (e) =>
      `map ${e.map}: a worker ended while it appended, and it is unknown which features have arrived: compare the map with the source before you run the job again, which appends all of it`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
