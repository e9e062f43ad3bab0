/** Requests that the host sends for formats whose sources are web services. */

/** A request that may be sent again: it reads, or changes nothing when it is repeated. */
export interface HttpRequest {
  readonly url: string;
  /** Sent by POST as a form (application/x-www-form-urlencoded). Absent: GET. */
  readonly form?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A file that a response was saved to. */
export interface SavedResponse extends Omit<HttpResponse, "body"> {
  /** Size of the file in bytes; 0 if the status is not 200, and there is no file. */
  readonly size: number;
}

export interface HttpClientOptions {
  /** The service as messages name it, without secrets. */
  readonly source: string;
  /** Requests per second at most; absent: no limit. */
  readonly rate?: number | undefined;
}

/**
 * Sends requests with the timeouts and the number of retries of the run (`--connect-timeout`, `--timeout`,
 * `--minimum-rate`, `--retries`). Repeats a request with increasing delays after a network failure, a status 408, 425, 429
 * or 5xx, and a response that `explainFailure` calls transient; waits as long as `Retry-After` says. Follows redirects, but
 * not from https to http; a form only within its origin.
 */
export interface HttpClient {
  /**
   * @param explainFailure returns why the content of a response is worth another attempt; null if it is not
   * @returns the response, also one with a status from 400 to 499
   * @throws input-unavailable, input-download, input-too-large, interrupted
   */
  send(request: HttpRequest, explainFailure?: (response: HttpResponse) => string | null): Promise<HttpResponse>;
  /**
   * Saves the body of a response with status 200 to a file at `path`, which must not exist. After a failure, there is none.
   * @throws as `send` does, and output-failed
   */
  save(request: HttpRequest, path: string): Promise<SavedResponse>;
}
