/** The command line: parses, runs one command, turns what happened into text and an exit status. */
import { asGeoferryError, createError } from "../errors.js";
import { describeSystemError } from "../io/input/source.js";
import { setNetworkSettings } from "../network-settings.js";
import { readTraceSettings } from "../tracing/trace-settings.js";
import { commandNameIn, commands, common, type ParsedCommand } from "./command.js";
import { exitStatus } from "./exit.js";
import { type NetworkArguments, networkSettings } from "./options/network-options.js";
import { errorRecord, errorText } from "./output/error-text.js";
import { type ColorMode, colorModes, setColorMode } from "./output/terminal.js";
import { protectArguments, withEnvironment } from "./parse/arguments.js";
import { parseCommandLine } from "./parse/parse-command-line.js";
import { refuseAddresses } from "./parse/refuse-addresses.js";
import { getStdoutError, interrupted, isStdoutClosed } from "./signals.js";

/**
 * Runs the command line `argv` (without node and script).
 * @returns the exit status
 */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const status = await runCommand(argv).catch((error: unknown) => reportError(error, argv));
  // Streams tell of their failure a turn after the write.
  await flush(process.stdout);
  const final = checkStdout(status, argv);
  await flush(process.stderr);
  return final;
}

const flush = (stream: NodeJS.WriteStream): Promise<unknown> => new Promise((resolve) => stream.write("", resolve));

/** What the status becomes where stdout did not take everything. */
function checkStdout(status: number, argv: readonly string[]): number {
  if (isStdoutClosed()) return exitStatus.closed;
  const failure = getStdoutError();
  // What became of the features is known already; of records no one has heard.
  return failure && status === 0
    ? reportError(createError("stdout-failed", { reason: describeSystemError(failure) }), argv)
    : status;
}

async function runCommand(argv: readonly string[]): Promise<number> {
  if (argv[0] === "__complete") {
    const { complete } = await import("./completion/complete.js");
    return complete(argv.slice(1));
  }
  const asked = await parseArguments(argv);
  if (asked === null) return 0;
  refuseAddresses(asked.command, asked.args);
  // Commands that send nothing do not have them.
  setNetworkSettings(networkSettings(asked.args as NetworkArguments));
  const traces = readTraceSettings(process.env);
  if (traces === null) return asked.command.run(asked.args);
  const { runTraced } = await import("./traced-command.js");
  return runTraced(asked, traces);
}

/** The command and its arguments, or null where help or the version was all that was asked for. @throws usage */
async function parseArguments(argv: readonly string[]): Promise<ParsedCommand | null> {
  const name = commandNameIn(argv);
  const command = name === null ? undefined : commands[name];
  const options = command ? { ...common, ...command.options } : common;
  const typed = protectArguments(argv);
  const line = withEnvironment(typed, options, process.env);
  setColorMode(readColorMode(line));
  if (name !== null && command) {
    const after = name.split(" ").length;
    const rest = line.slice(after);
    const args = parseCommandLine(rest, command);
    if (args) return { command, args };
    if (await printHelpOrVersion(line)) return null;
    const { explainMistake } = await import("./parse/command-line-errors.js");
    throw explainMistake(name, rest, typed.slice(after));
  }
  if (await printHelpOrVersion(line)) return null;
  const { unknownCommand } = await import("./parse/command-line-errors.js");
  throw unknownCommand(typed);
}

/** Whether the line asks for help or the version, and nothing else is to be done. */
async function printHelpOrVersion(line: readonly string[]): Promise<boolean> {
  const wantsHelp = line.some((argument) => argument === "--help" || argument === "-h");
  if (!wantsHelp && !line.includes("--version")) return false;
  const { formatHelp, versionText } = await import("./help.js");
  process.stdout.write(wantsHelp ? formatHelp(line, process.stdout) : versionText);
  return true;
}

/** What `--color` says, also on a line that is wrong otherwise. @throws option-invalid */
function readColorMode(line: readonly string[]): ColorMode {
  const at = line.findLastIndex((argument) => /^--color(=|$)/.test(argument));
  if (at < 0) return "auto";
  const value = line[at]!.slice("--color=".length) || (line[at + 1] ?? "");
  const mode = colorModes.find((one) => one === value);
  if (mode !== undefined) return mode;
  throw createError("option-invalid", { option: "--color", value, expected: `one of ${colorModes.join(", ")}` });
}

/** Prints an error for people on stderr and, with `--json`, for programs on stdout. */
export function reportError(thrown: unknown, argv: readonly string[]): number {
  const known = asGeoferryError(thrown);
  // Whatever fails when everything is being stopped fails for that.
  const error = interrupted.aborted && known.kind !== "interrupted" ? createError("interrupted", {}, thrown) : known;
  const status = exitStatus[error.kind];
  if (isStdoutClosed()) return status;
  process.stderr.write(errorText(error, argv.includes("-v") || argv.includes("--verbose")));
  const wantsRecords = withEnvironment(argv, { json: common.json }, process.env).includes("--json");
  if (wantsRecords) process.stdout.write(`${JSON.stringify(errorRecord(error))}\n`);
  return status;
}
