import { ChildProcessClient, ChildProcessError } from "../../shared/child-process-client.js";
import { missingPrefix } from "./library.js";
import { resolveGdalProcess } from "./process-path.js";
import type { GdalReply, GdalRequest } from "./protocol.js";

/** Why GDAL has nothing to give. */
export class GdalError extends Error {
  /** @param missing the library is not there, or cannot be loaded */
  constructor(
    message: string,
    readonly missing: boolean = false,
  ) {
    super(message);
  }
}

export interface GdalConnectionOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Mebibytes that the process may take. */
  readonly memory: number;
  readonly signal: AbortSignal;
  /** Told once each. */
  readonly onWarning: (warning: string) => void;
}

/** Megabytes of JavaScript's heap: what is read stays outside of it. */
const maxHeapMiB = 512;

function toGdalFailure({ message, said }: ChildProcessError): GdalError {
  const at = said.indexOf(missingPrefix);
  return at < 0 ? new GdalError(message) : new GdalError(said.slice(at + missingPrefix.length).trim(), true);
}

/** One dataset that GDAL reads or makes, in a process of its own. Asked one thing after the other. */
export class GdalConnection {
  private readonly process: ChildProcessClient<GdalRequest, GdalReply>;
  private readonly told = new Set<string>();

  constructor({ onWarning, ...limits }: GdalConnectionOptions) {
    this.process = new ChildProcessClient({
      ...limits,
      path: resolveGdalProcess(),
      label: "it",
      heap: maxHeapMiB,
      memoryOption: "memory",
      onReply: ({ warnings }) => {
        for (const warning of warnings) {
          if (!this.told.has(warning)) onWarning(warning);
          this.told.add(warning);
        }
      },
    });
  }

  /** @throws GdalError where GDAL refuses, dies or takes too much memory; the process is gone then */
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
