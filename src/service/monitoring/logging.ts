/**
 * The log: one JSON object per line, with the request id of the header `X-Request-Id`. Lines contain no secrets:
 * members that hold one are redacted, and each line is searched for texts that look like a secret.
 */
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from "fastify";
import type { KeyIndexEvent } from "../store/key-index-builder.js";
import type { ThreadExit } from "../store/sqlite/supervised-thread.js";

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** Destination of log lines. */
export interface LogTarget {
  write(line: string): void;
}

const redactedText = "[redacted]";
const redactedMembers = ["authorization", "cookie", "set-cookie", "password", "client_secret", "access_token", "token"];

/** Patterns of secrets, and their replacements. */
const secretPatterns: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Client secrets, access tokens, sessions, setup links.
  [/\bgf[stnu]_[\w-]+/g, redactedText],
  [/\$argon2\w*\$[^\s"\\]+/g, redactedText],
  [/\b(basic|bearer)(\s+)[\w.~+/=-]{6,}/gi, `$1$2${redactedText}`],
  // In forms and queries.
  [/\b(client_secret|access_token|password|token|again|current)=[^\s"\\&;]+/gi, `$1=${redactedText}`],
  // postgres://user:password@host
  [/(:\/\/[^\s"\\/@:]*:)[^\s"\\/@]+(?=@)/g, `$1${redactedText}`],
];

/** Replaces everything in a line that looks like a secret. */
export const redactSecrets = (line: string): string =>
  secretPatterns.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line);

export function loggerOptions(level: LogLevel, target: LogTarget): FastifyServerOptions["logger"] {
  const paths = redactedMembers.map((name) => `["${name}"]`);
  return {
    level,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: [...paths, ...paths.map((path) => `*${path}`), ...paths.map((path) => `*.headers${path}`)],
      censor: redactedText,
    },
    serializers: { req: describeRequest },
    hooks: { streamWrite: redactSecrets },
    stream: target,
  } as FastifyServerOptions["logger"];
}

/** Maximum length of a logged URL, in characters. */
const maxLoggedUrlLength = 500;

function describeRequest(request: FastifyRequest): object {
  return { method: request.method, url: request.url.slice(0, maxLoggedUrlLength), address: request.ip };
}

/** Logs that a thread of the store ended unexpectedly. */
export function logThreadExit(log: FastifyBaseLogger, { role, cause, restartDelay }: ThreadExit): void {
  log.error({ err: cause, thread: role, pause: restartDelay }, "a thread of the store ended and is restarted");
}

/** Logs the progress of building a key index: start, each tenth, and end. */
export function logKeyIndexProgress(
  log: FastifyBaseLogger,
  { map, read, total, features, isFinished }: KeyIndexEvent,
): void {
  const tenth = (count: number) => Math.floor((10 * count) / total);
  if (isFinished)
    log.info(
      { map },
      read === total ? "the key index of a map is complete" : "building the key index of a map was interrupted",
    );
  else if (features === 0 || tenth(read) > tenth(read - features))
    log.info({ map, percent: Math.floor((100 * read) / total) }, "building the key index of a map");
}

/** Logs each request. Successful probes are not logged. */
export function installRequestLog(app: FastifyInstance): void {
  app.addHook("onResponse", async (request: FastifyRequest, reply: FastifyReply) => {
    const line = {
      ...describeRequest(request),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
    };
    if (reply.statusCode >= 500) request.log.warn(line, "request failed");
    else request.log.info(line, "request");
  });
  app.addHook("onRequest", async (request, { raw }) => {
    // No hook runs when a client disconnects after its body was read.
    raw.once("close", () => {
      if (!raw.writableFinished) request.log.info(describeRequest(request), "request aborted by the client");
    });
  });
}
