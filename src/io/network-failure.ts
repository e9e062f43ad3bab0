/** What went wrong between a program and a server, in words, from what Node's fetch or a request of node:http throws. */

export interface NetworkFailure {
  readonly reason: string;
  /** Whether another attempt may go better. */
  readonly passes: boolean;
  /** The server's certificate is not to be trusted. */
  readonly untrusted: boolean;
}

const brokenOff = "the server broke off the connection";

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "the server refuses the connection",
  ECONNRESET: brokenOff,
  EPIPE: brokenOff,
  UND_ERR_SOCKET: brokenOff,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "the server sent less than it announced",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host's name cannot be looked up now",
  ETIMEDOUT: "the server does not answer",
  EHOSTUNREACH: "there is no way to the host now",
  ENETUNREACH: "there is no way to the host now",
  UND_ERR_CONNECT_TIMEOUT: "the server does not answer",
  Z_BUF_ERROR: "the answer is compressed, and ends too early",
  Z_DATA_ERROR: "the answer is compressed, and damaged",
  CERT_HAS_EXPIRED: "the server's certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the server's certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the server's certificate is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "the server's certificate cannot be verified",
};

/** Codes of OpenSSL for certificates, and Node's own. */
const distrust = /CERT|^UNABLE_TO/;

/** Failures that waiting does not mend: those of certificates, and whatever is not known to be the network's. */
const lasting = /CERT|^UNABLE_TO|^ERR_(?!STREAM_PREMATURE_CLOSE)/;

/** @param error what a request, or the reading of its answer, threw */
export function networkFailure(error: unknown): NetworkFailure {
  const { code, message } = deepest(error);
  const reason = (code && reasons[code]) || (message === "terminated" ? brokenOff : message);
  const untrusted = code !== undefined && distrust.test(code);
  return {
    reason,
    passes: code !== undefined ? !lasting.test(code) : reason === brokenOff,
    untrusted,
  };
}

/** Causes and lists of errors (one for each address of a host) wrap what the operating system said. */
function deepest(error: unknown): NodeJS.ErrnoException {
  const { cause, errors } = error as AggregateError;
  const inner: unknown = cause ?? errors?.[0];
  return inner instanceof Error ? deepest(inner) : (error as NodeJS.ErrnoException);
}
