/** Parses the command line, runs the command, reports errors, and returns the exit status. */
import "../plug-and-play.js";

import { asGeoferryError, createError } from "../errors.js";
import { describeSystemError } from "../io/input/source.js";
import { setNetworkSettings } from "../network-settings.js";
import { readTraceSettings } from "../tracing/trace-settings.js";
import { commandNameIn, commands, common, type ParsedCommand } from "./command.js";
import { exitStatus } from "./exit.js";
import type { Flag } from "./options/flag.js";
import { type NetworkArguments, networkSettings } from "./options/network-options.js";
import { errorRecord, errorText } from "./output/error-text.js";
import { type ColorMode, colorModes, setColorMode } from "./output/terminal.js";
import { protectArguments, withEnvironment } from "./parse/arguments.js";
import { checkPaths } from "./parse/check-paths.js";
import { parseCommandLine } from "./parse/parse-command-line.js";
import { getStdoutError, interrupted, isStdoutClosed } from "./signals.js";

/**
 * Runs the command line `argv` (without node and script).
 * @returns the exit status
 */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  const status = await runCommand(argv).catch((error: unknown) => reportError(error, argv));
  // Streams emit errors one turn after the write.
  await flush(process.stdout);
  const final = checkStdout(status, argv);
  await flush(process.stderr);
  return final;
}

const flush = (stream: NodeJS.WriteStream): Promise<unknown> => new Promise((resolve) => stream.write("", resolve));

/** The final status, taking write errors of stdout into account. */
function checkStdout(status: number, argv: readonly string[]): number {
  if (isStdoutClosed()) return exitStatus.closed;
  const failure = getStdoutError();
  // Commands that write features report the error themselves; those that write records do not.
  return failure && status === 0
    ? reportError(createError("stdout-failed", { reason: describeSystemError(failure) }), argv)
    : status;
}

async function runCommand(given: readonly string[]): Promise<number> {
  const argv = moveCommonFlags(given);
  if (argv[0] === "__complete") {
    const { complete } = await import("./completion/complete.js");
    return complete(argv.slice(1));
  }
  const parsed = await parseArguments(argv);
  if (parsed === null) return 0;
  checkPaths(parsed.command, parsed.args);
  // Commands without network requests do not have these flags.
  setNetworkSettings(networkSettings(parsed.args as NetworkArguments));
  const traces = readTraceSettings(process.env);
  if (traces === null) return parsed.command.run(parsed.args);
  const { runTraced } = await import("./traced-command.js");
  return runTraced(parsed, traces);
}

/** Moves flags of all commands that precede the command behind its name: `geoferry --json convert …`. */
function moveCommonFlags(argv: readonly string[]): readonly string[] {
  let end = 0;
  while (end < argv.length) {
    const flag = findCommonFlag(argv[end]!);
    if (!flag) break;
    end += flag.type === "boolean" || argv[end]!.includes("=") ? 1 : 2;
  }
  const name = end === 0 ? null : commandNameIn(argv.slice(end));
  if (name === null) return argv;
  const start = end + name.split(" ").length;
  return [...argv.slice(end, start), ...argv.slice(0, end), ...argv.slice(start)];
}

function findCommonFlag(argument: string): Flag | undefined {
  const name = /^--([a-z]+)(?:=|$)/.exec(argument)?.[1];
  return Object.entries<Flag>(common).find(
    ([key, { alias }]) => key === name || (alias !== undefined && argument === `-${alias}`),
  )?.[1];
}

/** The command and its arguments, or null after printing help or the version. @throws usage */
async function parseArguments(argv: readonly string[]): Promise<ParsedCommand | null> {
  const name = commandNameIn(argv);
  const command = name === null ? undefined : commands[name];
  const options = command ? { ...common, ...command.options } : common;
  const typed = protectArguments(argv);
  const line = withEnvironment(typed, options, process.env);
  // Resets the mode of an earlier command of this process before `readColorMode` reports an invalid mode.
  setColorMode("auto");
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

/** @returns whether the line asked for help or the version */
async function printHelpOrVersion(line: readonly string[]): Promise<boolean> {
  const wantsHelp = line.some((argument) => argument === "--help" || argument === "-h");
  if (!wantsHelp && !line.includes("--version")) return false;
  const { formatHelp, versionText } = await import("./help.js");
  process.stdout.write(wantsHelp ? formatHelp(line, process.stdout) : versionText);
  return true;
}

/** Reads `--color` before the line is parsed, so that usage errors are colored accordingly. @throws option-invalid */
function readColorMode(line: readonly string[]): ColorMode {
  const at = line.findLastIndex((argument) => /^--color(=|$)/.test(argument));
  if (at < 0) return "auto";
  const value = line[at]!.slice("--color=".length) || (line[at + 1] ?? "");
  const mode = colorModes.find((one) => one === value);
  if (mode !== undefined) return mode;
  throw createError("option-invalid", { option: "--color", value, expected: `one of ${colorModes.join(", ")}` });
}

/** Prints an error to stderr and, with `--json`, to stdout. @returns the exit status */
export function reportError(thrown: unknown, argv: readonly string[]): number {
  const known = asGeoferryError(thrown);
  // Errors after an interruption are its consequences.
  const error = interrupted.aborted && known.kind !== "interrupted" ? createError("interrupted", {}, thrown) : known;
  const status = exitStatus[error.kind];
  if (isStdoutClosed()) return status;
  process.stderr.write(errorText(error, argv.includes("-v") || argv.includes("--verbose")));
  const wantsRecords = withEnvironment(argv, { json: common.json }, process.env).includes("--json");
  if (wantsRecords) process.stdout.write(`${JSON.stringify(errorRecord(error))}\n`);
  return status;
}
