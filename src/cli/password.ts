/** A password or another secret that a person types or a program sends: from stdin, so that it stands on no command line. */
import type { ReadStream } from "node:tty";
import { createError } from "../errors.js";
import { interrupted } from "./signals.js";

/** Longest text that is read, in bytes. */
const maxSecretBytes = 8192;

/**
 * The first line of stdin, without its end. On a terminal it is asked for twice, and not shown.
 * @throws password-invalid, interrupted
 */
export async function readPassword(): Promise<string> {
  const password = await readSecret("password");
  if (!process.stdin.isTTY) return password;
  const again = await promptHidden(process.stdin, "The same again: ");
  if (password !== again) throw createError("password-invalid", { reason: "the two passwords are not the same" });
  return password;
}

/**
 * The first line of stdin, without its end. On a terminal it is asked for, and not shown.
 * @param what "client secret"
 * @throws password-invalid, interrupted
 */
export async function readSecret(what: string): Promise<string> {
  const { stdin } = process;
  return stdin.isTTY
    ? promptHidden(stdin, `${what[0]!.toUpperCase()}${what.slice(1)}: `)
    : parseSingleLine(await readAll(stdin, what), what);
}

async function readAll(stdin: NodeJS.ReadStream, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = () => stdin.destroy(createError("interrupted", {}));
  interrupted.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of stdin as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxSecretBytes)
        throw createError("password-invalid", {
          reason: `stdin has more than ${maxSecretBytes} bytes, which is no ${what}`,
        });
      chunks.push(chunk);
    }
  } finally {
    interrupted.removeEventListener("abort", stop);
  }
  return Buffer.concat(chunks);
}

/** @throws password-invalid */
function parseSingleLine(bytes: Buffer, what: string): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw createError("password-invalid", { reason: `the ${what} on stdin is not text in UTF-8` }, error);
  }
  const line = text.replace(/\r?\n$/, "");
  if (line === "") throw createError("password-invalid", { reason: `there is no ${what} on stdin` });
  if (/[\r\n]/.test(line))
    throw createError("password-invalid", { reason: `stdin has more than one line, and a ${what} has one` });
  return line;
}

/** One line that is typed, unseen. @throws interrupted */
async function promptHidden(stdin: ReadStream, question: string): Promise<string> {
  const { createInterface } = await import("node:readline");
  const { Writable } = await import("node:stream");
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: unseen, terminal: true });
  // Only now that the terminal shows nothing of what is typed.
  process.stderr.write(question);
  const end = () => lines.close();
  interrupted.addEventListener("abort", end);
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once("line", resolve);
      lines.once("SIGINT", end);
      // Also by Ctrl+D on an empty line.
      lines.once("close", () => reject(createError("interrupted", {})));
      if (interrupted.aborted) end();
    });
  } finally {
    interrupted.removeEventListener("abort", end);
    lines.close();
    process.stderr.write("\n");
  }
}
