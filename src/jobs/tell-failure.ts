/** Who is told of a run that did not end well: a command, an address. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { OnFailure } from "./job.js";
import type { RunReport } from "./run-report.js";

/** Milliseconds that an address may take to answer, and a command to end. */
const patience = 30_000;

/**
 * Tells them all. That one of them cannot be told is no failure of the run.
 * @param status the run's exit status @param file the report as JSON, for the command
 * @returns what a person should know
 */
export async function tellFailure(
  { command, webhook }: OnFailure,
  report: RunReport,
  status: number,
  file: string,
): Promise<string[]> {
  const told = [
    command === undefined ? null : runCommand(command, report, status, file),
    webhook === undefined ? null : post(webhook, report, status),
  ];
  return (await Promise.all(told)).filter((sentence) => sentence !== null);
}

async function runCommand(
  command: string,
  { job, result }: RunReport,
  status: number,
  file: string,
): Promise<string | null> {
  const facts = { GEOFERRY_JOB: job, GEOFERRY_RESULT: result, GEOFERRY_STATUS: String(status), GEOFERRY_REPORT: file };
  const child = spawn(command, {
    shell: true,
    stdio: ["ignore", 2, 2],
    env: { ...process.env, ...facts },
    timeout: patience,
  });
  try {
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    return code === 0 ? null : `the command of onFailure ended with ${code ?? signal}`;
  } catch (error) {
    return `the command of onFailure cannot be run: ${(error as Error).message}`;
  }
}

async function post(address: string, report: RunReport, status: number): Promise<string | null> {
  try {
    const url = new URL(address);
    // fetch takes no address with a user in it, and tells all of it in its error.
    const { username, password } = url;
    url.username = "";
    url.password = "";
    const login = [username, password].map(decodeURIComponent).join(":");
    const authorization = `Basic ${Buffer.from(login).toString("base64")}`;
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...(login === ":" ? {} : { authorization }) },
      body: JSON.stringify({ ...report, status }),
      signal: AbortSignal.timeout(patience),
    });
    return response.ok ? null : `the webhook of onFailure answered ${response.status}`;
  } catch (error) {
    const { message, cause } = error as Error;
    return `the webhook of onFailure cannot be reached: ${cause instanceof Error ? cause.message : message}`;
  }
}
