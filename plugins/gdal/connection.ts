import { AskedProcess, ProcessFailure } from "../shared/asked-process.js";
import { missingMark } from "./library.js";
import { gdalProcessPath } from "./process-path.js";
import type { GdalReply, GdalRequest } from "./protocol.js";

/** Why GDAL has nothing to give. */
export class GdalFailure extends Error {
  /** @param missing the library is not there, or cannot be loaded */
  constructor(
    message: string,
    readonly missing: boolean = false,
  ) {
    super(message);
  }
}

export interface ConnectionOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Mebibytes that the process may take. */
  readonly memory: number;
  readonly signal: AbortSignal;
  /** Told once each. */
  readonly onWarning: (warning: string) => void;
}

/** Megabytes of JavaScript's heap: what is read stays outside of it. */
const heap = 512;

function failureOf({ message, said }: ProcessFailure): GdalFailure {
  const at = said.indexOf(missingMark);
  return at < 0 ? new GdalFailure(message) : new GdalFailure(said.slice(at + missingMark.length).trim(), true);
}

/** One dataset that GDAL reads or makes, in a process of its own. Asked one thing after the other. */
export class GdalConnection {
  private readonly process: AskedProcess<GdalRequest, GdalReply>;
  private readonly told = new Set<string>();

  constructor({ onWarning, ...limits }: ConnectionOptions) {
    this.process = new AskedProcess({
      ...limits,
      path: gdalProcessPath(),
      label: "it",
      heap,
      memoryOption: "memory",
      onReply: ({ warnings }) => {
        for (const warning of warnings) {
          if (!this.told.has(warning)) onWarning(warning);
          this.told.add(warning);
        }
      },
    });
  }

  /** @throws GdalFailure where GDAL refuses, dies or takes too much memory; the process is gone then */
  async ask<K extends GdalRequest["kind"]>(
    request: GdalRequest & { readonly kind: K },
  ): Promise<GdalReply & { readonly kind: K }> {
    try {
      return await this.process.ask<K>(request);
    } catch (error) {
      throw error instanceof ProcessFailure ? failureOf(error) : error;
    }
  }

  close(): Promise<void> {
    return this.process.close();
  }
}
