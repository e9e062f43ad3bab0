/** The command line: parses, runs one command, turns what happened into text and an exit status. */
import { asGeoferryError, fault } from "../errors.js";
import { systemReason } from "../io/source.js";
import { setNetwork } from "../network.js";
import { tracesAsked } from "../tracing/environment.js";
import { protectArguments, withEnvironment } from "./arguments.js";
import { type Asked, commandNameIn, commands, common } from "./command.js";
import { errorRecord, errorText } from "./error-text.js";
import { exitStatus } from "./exit.js";
import { type NetworkArguments, networkFrom } from "./network-options.js";
import { refuseAddresses } from "./on-disk.js";
import { readLine } from "./read-line.js";
import { interrupted, isStdoutClosed, stdoutFailure } from "./signals.js";
import { type ColorMode, colorModes, setColorMode } from "./terminal.js";

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
  if (argv[0] === "__complete") {
    const { complete } = await import("./completion/complete.js");
    return complete(argv.slice(1));
  }
  const asked = await read(argv);
  if (asked === null) return 0;
  refuseAddresses(asked.command, asked.args);
  // Commands that send nothing do not have them.
  setNetwork(networkFrom(asked.args as NetworkArguments));
  const traces = tracesAsked(process.env);
  if (traces === null) return asked.command.run(asked.args);
  const { runTraced } = await import("./traced-command.js");
  return runTraced(asked, traces);
}

/** The command and its arguments, or null where help or the version was all that was asked for. @throws usage */
async function read(argv: readonly string[]): Promise<Asked | null> {
  const name = commandNameIn(argv);
  const command = name === null ? undefined : commands[name];
  const options = command ? { ...common, ...command.options } : common;
  const typed = protectArguments(argv);
  const line = withEnvironment(typed, options, process.env);
  setColorMode(colorModeIn(line));
  if (name !== null && command) {
    const after = name.split(" ").length;
    const rest = line.slice(after);
    const args = readLine(rest, command);
    if (args) return { command, args };
    if (await isAnswered(line)) return null;
    const { mistakeIn } = await import("./mistakes.js");
    throw mistakeIn(name, rest, typed.slice(after));
  }
  if (await isAnswered(line)) return null;
  const { unknownCommand } = await import("./mistakes.js");
  throw unknownCommand(typed);
}

/** Whether the line asks for help or the version, and nothing else is to be done. */
async function isAnswered(line: readonly string[]): Promise<boolean> {
  const wantsHelp = line.some((argument) => argument === "--help" || argument === "-h");
  if (!wantsHelp && !line.includes("--version")) return false;
  const { helpOf, versionText } = await import("./help.js");
  process.stdout.write(wantsHelp ? helpOf(line, process.stdout) : versionText);
  return true;
}

/** What `--color` says, also on a line that is wrong otherwise. @throws option-invalid */
function colorModeIn(line: readonly string[]): ColorMode {
  const at = line.findLastIndex((argument) => /^--color(=|$)/.test(argument));
  if (at < 0) return "auto";
  const value = line[at]!.slice("--color=".length) || (line[at + 1] ?? "");
  const mode = colorModes.find((one) => one === value);
  if (mode !== undefined) return mode;
  throw fault("option-invalid", { option: "--color", value, expected: `one of ${colorModes.join(", ")}` });
}

/** Prints an error for people on stderr and, with `--json`, for programs on stdout. */
export function reportError(thrown: unknown, argv: readonly string[]): number {
  const known = asGeoferryError(thrown);
  // Whatever fails when everything is being stopped fails for that.
  const error = interrupted.aborted && known.kind !== "interrupted" ? fault("interrupted", {}, thrown) : known;
  const status = exitStatus[error.kind];
  if (isStdoutClosed()) return status;
  process.stderr.write(errorText(error, argv.includes("-v") || argv.includes("--verbose")));
  const wantsRecords = withEnvironment(argv, { json: common.json }, process.env).includes("--json");
  if (wantsRecords) process.stdout.write(`${JSON.stringify(errorRecord(error))}\n`);
  return status;
}
