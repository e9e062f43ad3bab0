/** Notifies a command and a webhook of a failed run. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { HttpExchange } from "../../io/http/http-exchange.js";
import { classifyNetworkError } from "../../io/http/network-failure.js";
import { networkSettings } from "../../network-settings.js";
import type { OnFailure } from "../job.js";
import type { RunReport } from "../report/run-report.js";

/** Time limit for a response of the webhook, and for the command. */
const notifyTimeoutMs = 30_000;
/** How long before its limit the command is asked to end. */
const graceMs = 2_000;
/** Time limit for the whole webhook request. */
const maxNotifyTimeoutMs = 120_000;

/**
 * A failed notification does not fail the run.
 * @param status the run's exit status @param file path of the JSON report, for the command
 * @param timeoutMs time limit for the command
 * @returns error messages for the user
 */
export async function notifyFailure(
  { command, webhook }: OnFailure,
  report: RunReport,
  status: number,
  file: string,
  timeoutMs: number = notifyTimeoutMs,
): Promise<string[]> {
  const notifications = [
    command === undefined ? null : runCommand(command, report, status, file, timeoutMs),
    webhook === undefined ? null : post(webhook, report, status),
  ];
  return (await Promise.all(notifications)).filter((message) => message !== null);
}

async function runCommand(
  command: string,
  { job, result }: RunReport,
  status: number,
  file: string,
  timeoutMs: number,
): Promise<string | null> {
  const variables = {
    GEOFERRY_JOB: job,
    GEOFERRY_RESULT: result,
    GEOFERRY_STATUS: String(status),
    GEOFERRY_REPORT: file,
  };
  // Environment variables cannot contain U+0000.
  const env = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, value.replaceAll("\0", "")]));
  let killTimer: NodeJS.Timeout | undefined;
  try {
    const child = spawn(command, {
      shell: true,
      stdio: ["ignore", 2, 2],
      env: { ...process.env, ...env },
      timeout: timeoutMs - graceMs,
    });
    killTimer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    return code === 0 ? null : `onFailure.command ended with ${code ?? signal}`;
  } catch (error) {
    return `cannot run onFailure.command: ${(error as Error).message}`;
  } finally {
    clearTimeout(killTimer);
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
    // The response body is not needed.
    const { statusCode = 0 } = await exchange.waitForResponse();
    return statusCode >= 200 && statusCode < 300 ? null : `onFailure.webhook responded with status ${statusCode}`;
  } catch (error) {
    const failure = exchange?.timeout.failure ?? classifyNetworkError(error);
    return `cannot reach onFailure.webhook: ${failure.reason}`;
  } finally {
    exchange?.destroy();
  }
}
