import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { createError } from "../../errors.js";
import type { InPlaceTarget, SinkFile } from "../../plugin/format.js";
import type { HostSink } from "./create-sink.js";
import { outputError } from "./temporary-names.js";

/** A file or database that its writer changes in place; the writer itself commits or rolls back. */
export class UpdateSink implements HostSink {
  readonly isStream = false;

  /** @throws output-failed if the file, or its folder, if a journal is created, is not writable */
  constructor(
    readonly name: string,
    readonly inPlaceTarget: InPlaceTarget & { readonly isAddress?: boolean },
  ) {
    if (inPlaceTarget.isAddress) return;
    try {
      for (const path of [inPlaceTarget.path, dirname(inPlaceTarget.path)]) accessSync(path, constants.W_OK);
    } catch (error) {
      throw outputError(name, error);
    }
  }

  async create(): Promise<SinkFile> {
    throw createError("internal", { reason: `${this.name} is changed in place, and nothing is created` });
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
