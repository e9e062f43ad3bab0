/** Tells whether a process runs, and whether a process number still belongs to the same process. */
import { readFileSync } from "node:fs";

/** Position of the start time among the fields after the name, which is in parentheses (proc_pid_stat(5)). */
const startField = 19;

/**
 * Identifies a run of a process, since numbers are used again.
 * @returns its start, in clock ticks since the system started; an empty text where the system does not tell; null if it
 * has ended, also if its parent has yet to collect its status (a zombie)
 */
export function findProcessStart(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs for another user.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return null;
  }
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return "";
  }
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? null : (fields[startField] ?? "");
}

/** Identifies the current run of the system, from whose start `findProcessStart` counts. An empty text where it does not tell. */
export function findSystemStart(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
  } catch {
    return "";
  }
}
