/** The command line: parses, runs one command, turns what happened into text and an exit status. */
import { asGeoferryError, fault } from "../errors.js";
import { systemReason } from "../io/source.js";
import { tracesAsked } from "../tracing/environment.js";
import { protectArguments, withEnvironment } from "./arguments.js";
import { commandNameIn, commands, common } from "./command.js";
import { errorRecord, errorText } from "./error-text.js";
import { exitStatus } from "./exit.js";
import type { Asked } from "./full-line.js";
import { refuseAddresses } from "./on-disk.js";
import { readPlainLine } from "./plain-line.js";
import { interrupted, isStdoutClosed, stdoutFailure } from "./signals.js";

/**
 * Runs the command line `argv` (without node and script).
 * @returns the exit status
 */
export async function run(argv: readonly string[]): Promise<number> {
  const status = await runCommand(argv).catch((error: unknown) => reportError(error, argv));
  // Streams tell of their failure a turn after the write.
  await flushed(process.stdout);
  const final = afterStdout(status, argv);
  await flushed(process.stderr);
  return final;
}

const flushed = (stream: NodeJS.WriteStream): Promise<unknown> => new Promise((resolve) => stream.write("", resolve));

/** What the status becomes where stdout did not take everything. */
function afterStdout(status: number, argv: readonly string[]): number {
  if (isStdoutClosed()) return exitStatus.closed;
  const failure = stdoutFailure();
  // What became of the features is known already; of records nobody has heard.
  return failure && status === 0
    ? reportError(fault("records-failed", { reason: systemReason(failure) }), argv)
    : status;
}

async function runCommand(argv: readonly string[]): Promise<number> {
  const asked = await read(argv);
  if (asked === null) return 0;
  refuseAddresses(asked.command, asked.args);
  const traces = tracesAsked(process.env);
  if (traces === null) return asked.command.run(asked.args);
  const { runTraced } = await import("./traced-command.js");
  return runTraced(asked, traces);
}

/** The command and its arguments, or null where help or a completion was all that was asked for. */
async function read(argv: readonly string[]): Promise<Asked | null> {
  const name = commandNameIn(argv);
  const command = name === null ? undefined : commands[name];
  const options = command ? { ...common, ...command.options } : {};
  const line = withEnvironment(protectArguments(argv), options, process.env);
  const args = command && readPlainLine(line.slice(name!.split(" ").length), command);
  if (command && args) return { command, args };
  const { readFullLine } = await import("./full-line.js");
  return readFullLine(line);
}

/** Prints an error for people on stderr and, with `--json`, for programs on stdout. */
export function reportError(thrown: unknown, argv: readonly string[]): number {
  // yargs throws errors of its own for what a person typed wrong.
  const isUsage = thrown instanceof Error && thrown.name === "YError";
  const known = isUsage ? fault("usage", { reason: thrown.message }) : asGeoferryError(thrown);
  // Whatever fails when everything is being stopped fails for that.
  const error = interrupted.aborted && known.kind !== "interrupted" ? fault("interrupted", {}, thrown) : known;
  const status = exitStatus[error.kind];
  if (isStdoutClosed()) return status;
  process.stderr.write(errorText(error, argv.includes("-v") || argv.includes("--verbose")));
  const wantsRecords = withEnvironment(argv, { json: common.json }, process.env).includes("--json");
  if (wantsRecords) process.stdout.write(`${JSON.stringify(errorRecord(error))}\n`);
  return status;
}
