/**
 * Runs commands of the built command line one after the other in this process, which starts and compiles only once. A line
 * of pipe 3 is a request: `{"args", "cwd", "env", "input", "result"}`. The result goes to the file `result`, which appears whole.
 */
import { createReadStream, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Readable, Writable } from "node:stream";
import { runCommandLine } from "../../dist/src/cli/run-command-line.js";

/** Takes the place of stdout or stderr. */
class Output extends Writable {
  chunks = [];
  _write(chunk, encoding, done) {
    this.chunks.push(typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk);
    done();
  }
  get text() {
    return Buffer.concat(this.chunks).toString();
  }
}

const replace = (name, value) => Object.defineProperty(process, name, { value, configurable: true, writable: true });
/** What a command registers to be done at its end, with it. */
const before = new Set(process.listeners("exit"));
function runExitListeners() {
  for (const listener of process.listeners("exit")) {
    if (before.has(listener)) continue;
    process.removeListener("exit", listener);
    listener(0);
  }
}

let finish = () => process.exit(1);
// As without this process: the command ends with 1.
process.on("uncaughtException", (error) => {
  process.stderr.write(`${error?.stack ?? error}\n`);
  finish(1);
  process.exit(1);
});

async function run({ args, cwd, env, input, result }) {
  const [stdout, stderr] = [new Output(), new Output()];
  replace("stdout", stdout);
  replace("stderr", stderr);
  replace("stdin", Readable.from(input === "" ? [] : [Buffer.from(input)]));
  // Changed, not replaced: libraries read the environment of the process.
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, "geoferry", ...args];
  process.chdir(cwd);
  finish = (status) => {
    runExitListeners();
    writeFileSync(`${result}.part`, JSON.stringify({ status, stdout: stdout.text, stderr: stderr.text }));
    renameSync(`${result}.part`, result);
  };
  finish(await runCommandLine(args));
}

for await (const line of createInterface({ input: createReadStream("", { fd: 3 }) })) await run(JSON.parse(line));
