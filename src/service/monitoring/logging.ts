/**
 * The log: one JSON object a line, with the id that an answer has in `X-Request-Id`. No line has a secret: members that
 * hold one are left out, and whatever looks like one is taken away at the end, wherever it came from.
 */
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest, FastifyServerOptions } from "fastify";
import type { KeyIndexEvent } from "../store/key-index-builder.js";
import type { ThreadExit } from "../store/sqlite/supervised-thread.js";

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/** A place that lines go to. */
export interface LogTarget {
  write(line: string): void;
}

const redactedText = "[taken away]";
const redactedMembers = ["authorization", "cookie", "set-cookie", "password", "client_secret", "access_token", "token"];

/** What a secret looks like, and what stands in its place. */
const secretPatterns: readonly (readonly [looks: RegExp, instead: string])[] = [
  // Client secrets, access tokens, sessions, setup links.
  [/\bgf[stnu]_[\w-]+/g, redactedText],
  [/\$argon2\w*\$[^\s"\\]+/g, redactedText],
  [/\b(basic|bearer)(\s+)[\w.~+/=-]{6,}/gi, `$1$2${redactedText}`],
  // In forms and queries.
  [/\b(client_secret|access_token|password|token|again|current)=[^\s"\\&;]+/gi, `$1=${redactedText}`],
  // postgres://user:password@host
  [/(:\/\/[^\s"\\/@:]*:)[^\s"\\/@]+(?=@)/g, `$1${redactedText}`],
];

/** A line without what looks like a secret. */
export const redactSecrets = (line: string): string =>
  secretPatterns.reduce((text, [looks, instead]) => text.replace(looks, instead), line);

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

/** Longest address that is logged, in characters. */
const maxLoggedUrlLength = 500;

function describeRequest(request: FastifyRequest): object {
  return { method: request.method, url: request.url.slice(0, maxLoggedUrlLength), address: request.ip };
}

/** Tells that a thread of the store ended by itself, and what comes of it. */
export function logThreadExit(log: FastifyBaseLogger, { role, cause, restartDelay }: ThreadExit): void {
  log.error(
    { err: cause, thread: role, pause: restartDelay },
    "a thread of the store ended; a new one takes its place",
  );
}

/** Tells how far the keys of a large map are read: at the beginning, now and then, and at the end. */
export function logKeyIndexProgress(
  log: FastifyBaseLogger,
  { map, read, total, features, isFinished }: KeyIndexEvent,
): void {
  const tenth = (count: number) => Math.floor((10 * count) / total);
  if (isFinished)
    log.info({ map }, read === total ? "the keys of a map are read" : "the reading of a map's keys was broken off");
  else if (features === 0 || tenth(read) > tenth(read - features))
    log.info({ map, percent: Math.floor((100 * read) / total) }, "the keys of a map are being read");
}

/** Writes a line for every request that was answered. Those of probes are left out unless something is wrong. */
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
    // No hook tells of a client that goes away once its body was read.
    raw.once("close", () => {
      if (!raw.writableFinished) request.log.info(describeRequest(request), "request broken off");
    });
  });
}
