/** Errors of jobs, queues and workers: part of the registry in src/errors.ts. */
import { defineError, type ErrorDefinition } from "./define-error.js";

/** The consequences of deleting the state of a job. */
const restartAdvice =
  "move it away and run the job again: every source is then converted once more, steps with append add their features a second time, existing outputs count as foreign (overwrite: true replaces them), and the history of runs is lost; maps are safe";

export const jobErrors = {
  "job-invalid": defineError<{ file: string; line: number; column: number; reason: string }>(
    "usage",
    (e) => `${e.file}:${e.line}:${e.column}: ${e.reason}`,
  ),
  "job-locked": defineError<{ job: string; holder: string | null }>(
    "locked",
    (e) =>
      `job ${e.job}: another run is in progress${e.holder === null ? "" : ` (${e.holder})`}; try again when it has finished, or wait for it with --wait`,
  ),
  "job-overdue": defineError<{ job: string; holder: string; hours: number }>(
    "guard",
    (e) =>
      `job ${e.job}: another run (${e.holder}) has lasted longer than the ${e.hours} h of overdueAfter; end that process if it hangs, or increase overdueAfter`,
  ),
  "job-state-damaged": defineError<{ path: string; reason: string }>(
    "input",
    (e) => `${e.path}: cannot read the state of the job: ${e.reason}; ${restartAdvice}`,
  ),
  "job-state-newer": defineError<{ path: string }>(
    "unsupported",
    (e) => `${e.path}: a later version of geoferry wrote the state of the job; use that version, or ${restartAdvice}`,
  ),
  "step-timeout": defineError<{ step: string; seconds: number }>(
    "unavailable",
    (e) => `step ${e.step}: did not finish within its timeout of ${e.seconds} s; the next run completes it`,
  ),
  "step-skipped": defineError<{ step: string; need: string }>(
    "conflict",
    (e) =>
      `step ${e.step}: skipped because it needs "${e.need}", which did not succeed; it runs once that step succeeds`,
  ),
  "queue-address": defineError<{ address: string; reason: string }>(
    "usage",
    (e) =>
      `--queue ${e.address}: ${e.reason}; expected redis://host:6379/0, or rediss://host:6380/0 with TLS; set GEOFERRY_QUEUE if the address contains user and password`,
  ),
  "queue-unavailable": defineError<{ queue: string; reason: string }>(
    "unavailable",
    (e) => `${e.queue}: the queue does not answer: ${e.reason}; check that Redis is running there, or try again later`,
  ),
  "queue-untrusted": defineError<{ queue: string; reason: string }>(
    "authentication",
    (e) =>
      `${e.queue}: the certificate of the queue cannot be verified: ${e.reason}; if a private certificate authority signed it, set NODE_EXTRA_CA_CERTS to the file with the authority's certificate`,
  ),
  "queue-forbidden": defineError<{ queue: string; reason: string }>(
    "authentication",
    (e) =>
      `${e.queue}: the queue denies access: ${e.reason}; ${/NOPERM|no permissions/i.test(e.reason) ? "permit this to the user with ACL SETUSER, or name another user in GEOFERRY_QUEUE" : "set GEOFERRY_QUEUE with user and password: redis://user:password@host"}`,
  ),
  "queue-not-accepting": defineError<{ queue: string; reason: string }>(
    "unavailable",
    (e) => `${e.queue}: the queue does not accept jobs: ${e.reason}`,
  ),
  "queue-incompatible": defineError<{ queue: string; reason: string }>(
    "unsupported",
    (e) => `${e.queue}: this server cannot be used as a queue: ${e.reason}`,
  ),
  "queue-job-damaged": defineError<{ what: string; reason: string }>(
    "conflict",
    (e) => `${e.what}: the queue has a damaged job: ${e.reason}; nothing was written for it; run the job again`,
  ),
  "worker-incompatible": defineError<{ worker: string; reason: string }>(
    "unavailable",
    (e) => `worker ${e.worker} refuses the job: ${e.reason}`,
  ),
  "worker-lost": defineError<{ what: string; reason: string }>(
    "unavailable",
    (e) => `${e.what}: failed because ${e.reason}; the next run completes it`,
  ),
  "append-outcome-unknown": defineError<{ output: string; hasQueue: boolean }>(
    "unknown-outcome",
    (e) =>
      `${e.output}: an earlier run with --queue ended before it knew whether a worker appended to this file${e.hasQueue ? "; the queue no longer has the result, and the file has changed since" : "; run the job with that queue, which has the result. If the queue is lost"}${e.hasQueue ? ":" : ","} compare the file with the source before running the job again, which appends the whole source`,
  ),
  "append-interrupted": defineError<{ map: string }>(
    "unknown-outcome",
    (e) =>
      `map ${e.map}: a worker ended during an append, or Redis lost its job, so the outcome is unknown: compare the map with the source before running the job again, which appends the whole source`,
  ),
} as const satisfies Record<string, ErrorDefinition<never>>;
