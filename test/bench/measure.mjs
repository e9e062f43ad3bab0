import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

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

/** Seconds of CPU time that a process took itself, and that those took which it waited for (Linux). */
function timesOf(pid) {
  // Behind the name, which may have blanks in it: the 14th to the 17th, of users and of the system, its own and of children.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").pop().split(" ").slice(11, 15).map(Number);
  return { own: (fields[0] + fields[1]) / ticks, waited: (fields[2] + fields[3]) / ticks };
}

/** Seconds of CPU time that the programs took which were run so far and have ended (Linux). */
export const processorTime = () => timesOf("self").waited;

/** What a process took so far, with what it waited for, and what its children took that are still there. */
function familyTimes(pid) {
  try {
    const { own, waited } = timesOf(pid);
    const lists = readdirSync(`/proc/${pid}/task`).map((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"),
    );
    const children = lists.join(" ").split(" ").filter(Boolean);
    // One that has ended has no children any more, though no one waited for them.
    if (/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))) return null;
    return { counted: own + waited, children: children.reduce((sum, child) => sum + timesOf(child).own, 0) };
  } catch {
    return null;
  }
}

const secondsSince = (started) => Number(process.hrtime.bigint() - started) / 1e9;

/** The environment as it is now, without certificates that Node would read whenever it starts: it may take as long as a small conversion. */
function environment() {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  return env;
}

/** A program was stopped, as it took longer than it may. */
export class TooSlow extends Error {}

/**
 * Runs a program once, and no other beside it: the seconds that pass, those of processors, peak resident memory in MB.
 * @param limit seconds after which it is stopped
 * @param unawaited whether it may end before that processes of its own have: what they took is looked at, up to the last
 * hundredth of a second
 * @throws TooSlow
 */
export async function measure(command, args, { unawaited = false, limit = Number.POSITIVE_INFINITY } = {}) {
  const before = processorTime();
  const started = process.hrtime.bigint();
  const child = spawn(command, args, { env: environment(), stdio: ["ignore", "ignore", "pipe"] });
  let peak = 0;
  let complaint = "";
  child.stderr.on("data", (text) => {
    complaint += text;
  });
  let last = { counted: 0, children: 0 };
  const timer = setInterval(() => {
    if (unawaited) last = familyTimes(child.pid) ?? last;
    peak = Math.max(peak, peakOf(child.pid));
    if (secondsSince(started) > limit) child.kill("SIGKILL");
  }, 10);
  const status = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  clearInterval(timer);
  const seconds = secondsSince(started);
  if (seconds > limit) throw new TooSlow(`${command} ${args.join(" ")} took more than ${limit} s`);
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}: ${complaint.slice(0, 500)}`);
  const processor = processorTime() - before;
  // Where it did wait for them, all that they took was counted in the end.
  const isCounted = processor - last.counted >= last.children;
  return { seconds, processor: isCounted ? processor : processor + last.children, peak };
}

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
