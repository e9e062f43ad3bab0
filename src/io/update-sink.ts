import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { fault } from "../errors.js";
import type { InPlace, SinkFile } from "../plugin/format.js";
import type { HostSink } from "./sink.js";
import { outputFailure } from "./target.js";

/** A file or database that its writer changes in place: what makes the change last, or takes it back, is the writer's. */
export class UpdateSink implements HostSink {
  readonly isStream = false;

  /** @throws output-failed where the file, or the folder that a journal needs, is not to be written to */
  constructor(
    readonly name: string,
    readonly update: InPlace & { readonly isAddress?: boolean },
  ) {
    if (update.isAddress) return;
    try {
      for (const path of [update.path, dirname(update.path)]) accessSync(path, constants.W_OK);
    } catch (error) {
      throw outputFailure(name, error);
    }
  }

  async create(): Promise<SinkFile> {
    throw fault("internal", { reason: `${this.name} is changed in place, and nothing is created` });
  }

  async prepare(): Promise<void> {}

  files(): null {
    return null;
  }

  published(): void {}

  async commit(): Promise<void> {}

  async abort(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}
