/** Who is told of a run that did not end well: a command, an address. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { HttpExchange } from "../../io/http/http-exchange.js";
import { classifyNetworkError } from "../../io/http/network-failure.js";
import { networkSettings } from "../../network-settings.js";
import type { OnFailure } from "../job.js";
import type { RunReport } from "../report/run-report.js";

/** Milliseconds that an address may take to answer, and a command to end. */
const notifyTimeoutMs = 30_000;
/** However slowly the report goes there. */
const maxNotifyTimeoutMs = 120_000;

/**
 * Tells them all. That one of them cannot be told is no failure of the run.
 * @param status the run's exit status @param file the report as JSON, for the command
 * @returns what a person should know
 */
export async function notifyFailure(
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
  // No variable can hold U+0000.
  const env = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, value.replaceAll("\0", "")]));
  try {
    const child = spawn(command, {
      shell: true,
      stdio: ["ignore", 2, 2],
      env: { ...process.env, ...env },
      timeout: notifyTimeoutMs,
    });
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    return code === 0 ? null : `the command of onFailure ended with ${code ?? signal}`;
  } catch (error) {
    return `the command of onFailure cannot be run: ${(error as Error).message}`;
  }
}

async function post(address: string, report: RunReport, status: number): Promise<string | null> {
  let exchange: HttpExchange | undefined;
  try {
    const url = new URL(address);
    const login = [url.username, url.password].map(decodeURIComponent).join(":");
    url.username = "";
    url.password = "";
    const authorization = `Basic ${Buffer.from(login).toString("base64")}`;
    const headers = { "content-type": "application/json", ...(login === ":" ? {} : { authorization }) };
    const body = Buffer.from(JSON.stringify({ ...report, status }));
    const timeout = Math.min(networkSettings().timeout, notifyTimeoutMs);
    exchange = await HttpExchange.start(
      { method: "POST", url, headers, body },
      AbortSignal.timeout(maxNotifyTimeoutMs),
      {
        timeout,
      },
    );
    // What it says beside its status is of no use.
    const { statusCode = 0 } = await exchange.waitForResponse();
    return statusCode >= 200 && statusCode < 300 ? null : `the webhook of onFailure answered ${statusCode}`;
  } catch (error) {
    const failure = exchange?.timeout.failure ?? classifyNetworkError(error);
    return `the webhook of onFailure cannot be reached: ${failure.reason}`;
  } finally {
    exchange?.destroy();
  }
}
