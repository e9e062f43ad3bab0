/**
 * The client of S3 and compatible stores, and what its failures mean. Credentials, region and endpoint are found by the
 * client's own chain (environment, profiles, roles); what that leaves open is settled here. To be loaded when an
 * `s3:` address is used: it takes longer than a small conversion.
 */
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { createError, GeoferryError } from "../../errors.js";
import { NoResponseError } from "../http/http-exchange.js";
import { classifyNetworkError } from "../http/network-failure.js";
import { formatBucketAddress } from "./bucket-address.js";
import { requestHandler, retryStrategy } from "./s3-http-handler.js";

const isTrueText = (text: string | undefined): boolean => /^(1|true|yes|on)$/i.test(text ?? "");
const isFalseText = (text: string | undefined): boolean => /^(0|false|no|off)$/i.test(text ?? "");

/** Requests that no one signs; none of the places where credentials lie is looked at. */
const anonymousConfig: S3ClientConfig = {
  credentials: { accessKeyId: "", secretAccessKey: "" },
  signer: { sign: async (request) => request },
};

/** The address of a store other than Amazon's; empty where none is named. */
export const customEndpoint = ({ AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL }: NodeJS.ProcessEnv): string =>
  AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || "";

/**
 * `AWS_VIRTUAL_HOSTING` and `AWS_NO_SIGN_REQUEST` are called as GDAL calls them. A store of one's own is asked by path
 * by default, and gets no checksums that it need not know.
 */
function clientConfig(environment: NodeJS.ProcessEnv): S3ClientConfig {
  const {
    AWS_REGION,
    AWS_DEFAULT_REGION,
    AWS_VIRTUAL_HOSTING,
    AWS_NO_SIGN_REQUEST,
    AWS_REQUEST_CHECKSUM_CALCULATION,
    AWS_RESPONSE_CHECKSUM_VALIDATION,
  } = environment;
  const isOwn = customEndpoint(environment) !== "";
  const region = AWS_REGION || AWS_DEFAULT_REGION || (isOwn ? "us-east-1" : undefined);
  return {
    ...(region ? { region } : {}),
    forcePathStyle: isOwn ? !isTrueText(AWS_VIRTUAL_HOSTING) : isFalseText(AWS_VIRTUAL_HOSTING),
    followRegionRedirects: true,
    ...(isOwn && !AWS_REQUEST_CHECKSUM_CALCULATION ? { requestChecksumCalculation: "WHEN_REQUIRED" as const } : {}),
    ...(isOwn && !AWS_RESPONSE_CHECKSUM_VALIDATION ? { responseChecksumValidation: "WHEN_REQUIRED" as const } : {}),
    ...(isTrueText(AWS_NO_SIGN_REQUEST) ? anonymousConfig : {}),
    ...{ requestHandler, retryStrategy },
    // What goes wrong is told once, in geoferry's words.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  };
}

let sharedClient: S3Client | undefined;

/** One for the process, as its connections are. */
function getClient(): S3Client {
  // Node 20 is supported here for as long as the client runs on it.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= "true";
  sharedClient ??= new S3Client(clientConfig(process.env));
  return sharedClient;
}

/** What a request is about, for messages. */
export interface S3Operation {
  readonly bucket: string;
  /** Of an object, or what keys begin with. */
  readonly key: string;
  readonly purpose: "read" | "write";
  readonly signal: AbortSignal;
}

/** What the store answered otherwise than asked. */
export interface S3Failure {
  /** Of HTTP; null where no answer came. */
  readonly status: number | null;
  /** As S3 calls it: "NoSuchBucket". */
  readonly name: string;
  readonly reason: string;
}

export function toS3Failure(error: unknown): S3Failure {
  const { name, message, $metadata } = error as Error & { readonly $metadata?: { readonly httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode ?? null;
  // Stores that say nothing but the name, and answers to HEAD, which have no body.
  const told = message && message !== "UnknownError" ? message : `it answers ${status ?? ""} ${name}`.trim();
  return { status, name, reason: told.replace(/\s+/g, " ").replace(/\.$/, "") };
}

/** Who one is has not been found out, or is not believed. */
const credentialErrorName =
  /^(CredentialsProviderError|ExpiredToken|InvalidToken|TokenRefreshRequired|InvalidAccessKeyId)/;
/** Another try may go better. */
const transientErrorName =
  /^(SlowDown|Throttling|RequestLimitExceeded|RequestTimeout|TimeoutError|InternalError|ServiceUnavailable)/;

/** @throws nothing: what comes back is thrown */
export function bucketError(error: unknown, { bucket, key, purpose, signal }: S3Operation): GeoferryError {
  if (error instanceof GeoferryError) return error;
  if (signal.aborted) return createError("interrupted", {}, error);
  const address = formatBucketAddress({ bucket, key });
  if (error instanceof NoResponseError && error.failure.isTransient)
    return createError("bucket-unavailable", { address, reason: error.failure.reason }, error);
  const { status, name, reason } = toS3Failure(error);
  if (status === 401 || status === 403 || credentialErrorName.test(name))
    return createError("bucket-forbidden", { address, reason }, error);
  if (status === 412) return createError("input-changed", { source: address }, error);
  if (transientErrorName.test(name) || status === 429 || (status !== null && status >= 500))
    return createError("bucket-unavailable", { address, reason }, error);
  if (/region is missing/i.test(reason))
    return createError("bucket-settings", { address, reason: missingRegionReason }, error);
  if (/not a valid URI|Invalid URL/i.test(reason))
    return createError("bucket-settings", { address, reason: invalidEndpointReason }, error);
  if (status === null || (status >= 200 && status < 300)) {
    const { reason, isTransient } = classifyNetworkError(error);
    if (isTransient) return createError("bucket-unavailable", { address, reason }, error);
    return bucketSettingsError(address, purpose, reason, error);
  }
  if (name === "NoSuchBucket") return bucketSettingsError(address, purpose, `there is no bucket "${bucket}"`, error);
  if (status === 404 && purpose === "read") return createError("input-missing", { source: address }, error);
  return bucketSettingsError(address, purpose, reason, error);
}

const missingRegionReason =
  "no region is set; name it in AWS_REGION, or another store than Amazon's in AWS_ENDPOINT_URL_S3";

const invalidEndpointReason =
  "AWS_ENDPOINT_URL_S3, or AWS_ENDPOINT_URL, is no address of a store; write https://host:port";

const bucketSettingsError = (
  address: string,
  use: S3Operation["purpose"],
  reason: string,
  cause: unknown,
): GeoferryError =>
  use === "read"
    ? createError("input-download", { source: address, reason }, cause)
    : createError("output-failed", { output: address, reason }, cause);

/**
 * Asks the store. The client itself tries again what may pass.
 * @throws bucket-forbidden, bucket-unavailable, bucket-settings, input-missing, input-changed, input-download, output-failed, interrupted
 */
export async function runS3Operation<T>(
  errand: S3Operation,
  request: (client: S3Client, options: { readonly abortSignal: AbortSignal }) => Promise<T>,
): Promise<T> {
  try {
    // The client leaves its listeners on a signal, which lives as long as the run.
    return await request(getClient(), { abortSignal: AbortSignal.any([errand.signal]) });
  } catch (error) {
    throw bucketError(error, errand);
  }
}
