/** Reads passwords and secrets from stdin, since other processes can read a command line. */
import type { ReadStream } from "node:tty";
import { createError } from "../errors.js";
import { interrupted } from "./signals.js";

const maxSecretBytes = 8192;

/**
 * Reads a password from stdin; on a terminal, prompts twice without echo.
 * @throws password-invalid, interrupted
 */
export async function readPassword(): Promise<string> {
  const password = await readSecret("password");
  if (!process.stdin.isTTY) return password;
  const again = await promptHidden(process.stdin, "Repeat the password: ");
  if (password !== again) throw createError("password-invalid", { reason: "the passwords do not match" });
  return password;
}

/**
 * Reads a secret from stdin; on a terminal, prompts without echo.
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
          reason: `stdin has more than ${maxSecretBytes} bytes, too many for a ${what}`,
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
    throw createError("password-invalid", { reason: `the ${what} on stdin is not valid UTF-8` }, error);
  }
  const line = text.replace(/\r?\n$/, "");
  if (line === "") throw createError("password-invalid", { reason: `stdin contains no ${what}` });
  if (/[\r\n]/.test(line))
    throw createError("password-invalid", { reason: `stdin has more than one line; send only the ${what}` });
  return line;
}

/** Reads a line without echo. @throws interrupted */
async function promptHidden(stdin: ReadStream, question: string): Promise<string> {
  const { createInterface } = await import("node:readline");
  const { Writable } = await import("node:stream");
  const muted = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: muted, terminal: true });
  // Prompt only after the echo is off.
  process.stderr.write(question);
  const end = () => lines.close();
  interrupted.addEventListener("abort", end);
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once("line", resolve);
      lines.once("SIGINT", end);
      // Ctrl+D on an empty line closes it, too.
      lines.once("close", () => reject(createError("interrupted", {})));
      if (interrupted.aborted) end();
    });
  } finally {
    interrupted.removeEventListener("abort", end);
    lines.close();
    process.stderr.write("\n");
  }
}
