/** What stops a job or one of its steps: part of the registry in src/errors.ts. */
import { type Entry, entry } from "./entry.js";

export const jobErrors = {
  "job-invalid": entry<{ file: string; line: number; column: number; reason: string }>(
    "usage",
    (e) => `${e.file}:${e.line}:${e.column}: ${e.reason}`,
  ),
  "job-locked": entry<{ job: string; holder: string | null }>(
    "locked",
    (e) =>
      `job ${e.job}: another run of it is at work${e.holder === null ? "" : ` (${e.holder})`}; try again when it has finished, or wait for that with --wait`,
  ),
  "step-timeout": entry<{ step: string; seconds: number }>(
    "unavailable",
    (e) =>
      `step ${e.step}: was not done within its timeout of ${e.seconds} s; what it had begun is finished by the next run`,
  ),
  "step-skipped": entry<{ step: string; need: string }>(
    "conflict",
    (e) => `step ${e.step}: not begun, since "${e.need}", which it needs, was not done`,
  ),
} as const satisfies Record<string, Entry<never>>;
