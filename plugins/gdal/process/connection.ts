import { ChildProcessClient, ChildProcessError } from "../../shared/child-process-client.js";
import { readMissing } from "./library.js";
import { resolveGdalProcess } from "./process-path.js";
import type { GdalReply, GdalRequest } from "./protocol.js";

/** A failure of GDAL. */
export class GdalError extends Error {
  /** @param missing whether the library is not installed or cannot be loaded */
  constructor(
    message: string,
    readonly missing: boolean = false,
  ) {
    super(message);
  }
}

export interface GdalConnectionOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Memory limit of the process, in mebibytes. */
  readonly memory: number;
  readonly signal: AbortSignal;
  /** Called once per distinct warning. */
  readonly onWarning: (warning: string) => void;
}

/** JavaScript heap limit; data is kept outside of the heap. */
const maxHeapMiB = 512;

function toGdalFailure({ message, lastOutput }: ChildProcessError): GdalError {
  const missing = readMissing(lastOutput);
  return missing === null ? new GdalError(message) : new GdalError(missing, true);
}

/** Reads or writes one dataset in a GDAL process. Handles one request at a time. */
export class GdalConnection {
  private readonly process: ChildProcessClient<GdalRequest, GdalReply>;
  private readonly reportedWarnings = new Set<string>();

  constructor({ onWarning, ...limits }: GdalConnectionOptions) {
    this.process = new ChildProcessClient({
      ...limits,
      path: resolveGdalProcess(),
      label: "it",
      heap: maxHeapMiB,
      memoryOption: "memory",
      onReply: ({ warnings }) => {
        for (const warning of warnings) {
          if (!this.reportedWarnings.has(warning)) onWarning(warning);
          this.reportedWarnings.add(warning);
        }
      },
    });
  }

  /** @throws GdalError if GDAL fails, crashes or exceeds its memory; the process has then ended */
  async ask<K extends GdalRequest["kind"]>(
    request: GdalRequest & { readonly kind: K },
  ): Promise<GdalReply & { readonly kind: K }> {
    try {
      return await this.process.ask<K>(request);
    } catch (error) {
      throw error instanceof ChildProcessError ? toGdalFailure(error) : error;
    }
  }

  close(): Promise<void> {
    return this.process.close();
  }
}
