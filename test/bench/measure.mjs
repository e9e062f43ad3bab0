import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** Highest resident memory of a process so far, in MB (Linux). */
function peakOf(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

/** The system counts the time of processors in hundredths of a second (Linux, proc(5)). */
const ticks = 100;

/** Seconds of processors that the programs took which were run so far and have ended (Linux). */
export function processorTime() {
  // Behind the name, which may have blanks in it: those of children, of users and of the system, are the 16th and 17th.
  const [user, system] = readFileSync("/proc/self/stat", "utf8").split(") ").pop().split(" ").slice(13, 15);
  return (Number(user) + Number(system)) / ticks;
}

/** The environment as it is now, without certificates that Node would read whenever it starts: it may take as long as a small conversion. */
function environment() {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  return env;
}

/** Runs a program once, and no other beside it: the seconds that pass, those of processors, peak resident memory in MB. */
export async function measure(command, args) {
  const before = processorTime();
  const started = process.hrtime.bigint();
  const child = spawn(command, args, { env: environment(), stdio: ["ignore", "ignore", "pipe"] });
  let peak = 0;
  let complaint = "";
  child.stderr.on("data", (text) => {
    complaint += text;
  });
  const timer = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid));
  }, 10);
  const status = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  clearInterval(timer);
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}: ${complaint.slice(0, 500)}`);
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  return { seconds, processor: processorTime() - before, peak };
}

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
