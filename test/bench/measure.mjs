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

/** Runs a program once: its seconds and its peak resident memory in MB. */
export async function measure(command, args) {
  const started = process.hrtime.bigint();
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
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
  return { seconds: Number(process.hrtime.bigint() - started) / 1e9, peak };
}

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
