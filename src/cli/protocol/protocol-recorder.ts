import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { StagedFile } from "../../io/output/staged-file.js";
import { redact } from "../../io/redact.js";
import { digestFile, listSourceFiles } from "../../jobs/steps/source-stat.js";
import type { Outcome } from "../../pipeline/convert-many.js";
import { isAddress } from "../../pipeline/input/expand-inputs.js";
import type { Host } from "../../pipeline/request.js";
import type { ProtocolFile, ProtocolInput, RecordedFiles } from "./protocol.js";

/** Hashes the files of conversions: outputs just before they get their names, and inputs when their conversion is complete. */
export class ProtocolRecorder {
  private readonly recorded = new Map<string, RecordedFiles>();
  readonly started = new Date();

  /** @returns the host, with a hook that records every output */
  watch(host: Host): Host {
    const { onCommit } = host;
    return {
      ...host,
      onCommit: async (output, files, report) => {
        const inputs = await hashInputs(report.inputs, host);
        this.recorded.set(output, { inputs, files: files.length === 0 ? null : await hashStaged(files, host.signal) });
        await onCommit?.(output, files, report);
      },
    };
  }

  /** What was recorded of a conversion; inputs of one that failed are hashed now. */
  async filesOf({ input, output, report }: Outcome, host: Host): Promise<RecordedFiles> {
    const known = this.recorded.get(output);
    return known ?? { inputs: await hashInputs(report?.inputs ?? [input], host), files: null };
  }
}

async function hashFile(path: string, name: string, signal: AbortSignal): Promise<ProtocolFile> {
  return { name, bytes: (await stat(path)).size, sha256: await digestFile(path, signal) };
}

async function hashStaged(files: readonly StagedFile[], signal: AbortSignal): Promise<ProtocolFile[]> {
  const hashed: ProtocolFile[] = [];
  for (const { path, finalPath } of files) hashed.push(await hashFile(path, finalPath, signal));
  return hashed;
}

async function hashInputs(inputs: readonly string[], { registry, signal }: Host): Promise<ProtocolInput[]> {
  const hashed: ProtocolInput[] = [];
  for (const input of inputs) {
    const name = redact(input, registry);
    const paths = isAddress(input, registry) ? null : listSourceFiles(input, registry);
    const files: ProtocolFile[] = [];
    for (const path of paths ?? []) files.push(await hashFile(path, path, signal));
    hashed.push({ name, files: paths && files });
  }
  return hashed;
}

/** Whether two names are the same file. */
export const isSamePath = (one: string, other: string): boolean => resolve(one) === resolve(other);
