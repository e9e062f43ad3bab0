/**
 * The client of S3 and compatible stores, and what its failures mean. Credentials, region and endpoint are found by the
 * client's own chain (environment, profiles, roles); what that leaves open is settled here. To be loaded when an
 * `s3:` address is used: it takes longer than a small conversion.
 */
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { fault, GeoferryError } from "../errors.js";
import { Unanswered } from "./http.js";
import { networkFailure } from "./network-failure.js";
import { textOf } from "./s3-address.js";
import { requestHandler, retryStrategy } from "./s3-requests.js";

const isYes = (text: string | undefined): boolean => /^(1|true|yes|on)$/i.test(text ?? "");
const isNo = (text: string | undefined): boolean => /^(0|false|no|off)$/i.test(text ?? "");

/** Requests that nobody signs; none of the places where credentials lie is looked at. */
const nobody: S3ClientConfig = {
  credentials: { accessKeyId: "", secretAccessKey: "" },
  signer: { sign: async (request) => request },
};

/** The address of a store other than Amazon's; empty where none is named. */
export const ownEndpoint = ({ AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL }: NodeJS.ProcessEnv): string =>
  AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || "";

/**
 * `AWS_VIRTUAL_HOSTING` and `AWS_NO_SIGN_REQUEST` are called as GDAL calls them. A store of one's own is asked by path
 * unless told otherwise, and gets no checksums that it need not know.
 */
function settingsOf(environment: NodeJS.ProcessEnv): S3ClientConfig {
  const {
    AWS_REGION,
    AWS_DEFAULT_REGION,
    AWS_VIRTUAL_HOSTING,
    AWS_NO_SIGN_REQUEST,
    AWS_REQUEST_CHECKSUM_CALCULATION,
    AWS_RESPONSE_CHECKSUM_VALIDATION,
  } = environment;
  const isOwn = ownEndpoint(environment) !== "";
  const region = AWS_REGION || AWS_DEFAULT_REGION || (isOwn ? "us-east-1" : undefined);
  return {
    ...(region ? { region } : {}),
    forcePathStyle: isOwn ? !isYes(AWS_VIRTUAL_HOSTING) : isNo(AWS_VIRTUAL_HOSTING),
    followRegionRedirects: true,
    ...(isOwn && !AWS_REQUEST_CHECKSUM_CALCULATION ? { requestChecksumCalculation: "WHEN_REQUIRED" as const } : {}),
    ...(isOwn && !AWS_RESPONSE_CHECKSUM_VALIDATION ? { responseChecksumValidation: "WHEN_REQUIRED" as const } : {}),
    ...(isYes(AWS_NO_SIGN_REQUEST) ? nobody : {}),
    ...{ requestHandler, retryStrategy },
    // What goes wrong is told once, in geoferry's words.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  };
}

let client: S3Client | undefined;

/** One for the process, as its connections are. */
function openClient(): S3Client {
  // Node 20 is supported here for as long as the client runs on it.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  client ??= new S3Client(settingsOf(process.env));
  return client;
}

/** What a request is about, for messages. */
export interface Errand {
  readonly bucket: string;
  /** Of an object, or what keys begin with. */
  readonly key: string;
  readonly use: "read" | "write";
  readonly signal: AbortSignal;
}

/** What the store answered otherwise than asked. */
export interface Refusal {
  /** Of HTTP; null where no answer came. */
  readonly status: number | null;
  /** As S3 calls it: "NoSuchBucket". */
  readonly name: string;
  readonly reason: string;
}

export function refusalOf(error: unknown): Refusal {
  const { name, message, $metadata } = error as Error & { readonly $metadata?: { readonly httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? null;
  // Stores that say nothing but the name, and answers to HEAD, which have no body.
  const told = message && message !== "UnknownError" ? message : `it answers ${status ?? ""} ${name}`.trim();
  return { status, name, reason: told.replace(/\s+/g, " ").replace(/\.$/, "") };
}

/** Who one is has not been found out, or is not believed. */
const unknownUser = /^(CredentialsProviderError|ExpiredToken|InvalidToken|TokenRefreshRequired|InvalidAccessKeyId)/;
/** Another try may go better. */
const passing =
  /^(SlowDown|Throttling|RequestLimitExceeded|RequestTimeout|TimeoutError|InternalError|ServiceUnavailable)/;

/** @throws nothing: what comes back is thrown */
export function bucketFault(error: unknown, { bucket, key, use, signal }: Errand): GeoferryError {
  if (error instanceof GeoferryError) return error;
  if (signal.aborted) return fault("interrupted", {}, error);
  const address = textOf({ bucket, key });
  if (error instanceof Unanswered && error.failure.passes)
    return fault("bucket-unavailable", { address, reason: error.failure.reason }, error);
  const { status, name, reason } = refusalOf(error);
  if (status === 401 || status === 403 || unknownUser.test(name))
    return fault("bucket-forbidden", { address, reason }, error);
  if (status === 412) return fault("input-changed", { source: address }, error);
  if (passing.test(name) || status === 429 || (status !== null && status >= 500))
    return fault("bucket-unavailable", { address, reason }, error);
  if (/region is missing/i.test(reason)) return fault("bucket-settings", { address, reason: noRegion }, error);
  if (/not a valid URI|Invalid URL/i.test(reason))
    return fault("bucket-settings", { address, reason: noEndpoint }, error);
  if (status === null || (status >= 200 && status < 300)) {
    const { reason, passes } = networkFailure(error);
    if (passes) return fault("bucket-unavailable", { address, reason }, error);
    return refused(address, use, reason, error);
  }
  if (name === "NoSuchBucket") return refused(address, use, `there is no bucket "${bucket}"`, error);
  if (status === 404 && use === "read") return fault("input-missing", { source: address }, error);
  return refused(address, use, reason, error);
}

const noRegion = "no region is set; name it in AWS_REGION, or another store than Amazon's in AWS_ENDPOINT_URL_S3";

const noEndpoint = "AWS_ENDPOINT_URL_S3, or AWS_ENDPOINT_URL, is no address of a store; write https://host:port";

const refused = (address: string, use: Errand["use"], reason: string, cause: unknown): GeoferryError =>
  use === "read"
    ? fault("input-download", { source: address, reason }, cause)
    : fault("output-failed", { output: address, reason }, cause);

/**
 * Asks the store. The client itself tries again what may pass.
 * @throws bucket-forbidden, bucket-unavailable, bucket-settings, input-missing, input-changed, input-download, output-failed, interrupted
 */
export async function ask<T>(
  errand: Errand,
  request: (client: S3Client, options: { readonly abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  try {
    // The client leaves its listeners on a signal, which lives as long as the run.
    return await request(openClient(), { abortSignal: AbortSignal.any([errand.signal]) });
  } catch (error) {
    throw bucketFault(error, errand);
  }
}
