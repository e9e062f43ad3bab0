/** A folder in which an interrupted download stays, so that the same command continues it. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createError } from "../../../src/plugin/index.js";
import { DownloadLock } from "../../shared/download-lock.js";
import { FeatureSpool, type SpoolState } from "../../shared/json/feature-spool.js";
import { isObject } from "../../shared/json/values.js";
import type { LayerState } from "./layer-state.js";
import type { Selection } from "./query-filter.js";

const version = 2;

interface SavedDownload {
  readonly version: number;
  /** What was selected, and which features there were. */
  readonly fingerprint: string;
  readonly spool: SpoolState;
  /** SHA-256 of the features, and of all this: what another program has changed is not continued. */
  readonly features: string;
  readonly check: string;
}

const hash = (...parts: readonly (string | Uint8Array)[]): string => {
  const digest = createHash("sha256");
  for (const part of parts) digest.update(part).update("\0");
  return digest.digest("hex");
};

const checkOf = ({ fingerprint, spool, features }: Omit<SavedDownload, "version" | "check">): string =>
  hash(fingerprint, JSON.stringify(spool), features);

/** The files of one layer and selection: `NAME.features`, and its state `NAME.json`. */
export class ResumableDownload {
  private readonly base: string;
  private readonly lockFile: DownloadLock;
  private fingerprint = "";
  /** Of the features so far. */
  private digest = createHash("sha256");

  /** @param layer its address */
  constructor(
    folder: string,
    private readonly layer: string,
    private readonly selection: Selection,
  ) {
    this.base = join(folder, hash(layer, JSON.stringify(selection)).slice(0, 20));
    this.lockFile = new DownloadLock(`${this.base}.lock`);
  }

  get path(): string {
    return `${this.base}.features`;
  }

  /** Reserves the files for this process. @throws output-locked, output-failed */
  lock(): Promise<void> {
    return this.lockFile.acquire();
  }

  /**
   * The spool, at the end of what was downloaded of the same features before. A download is only continued if the service
   * says that nothing was edited since.
   */
  async open(state: LayerState): Promise<FeatureSpool> {
    const { ids, edited } = state;
    this.fingerprint = hash(this.layer, JSON.stringify(this.selection), String(edited), bytesOf(ids));
    const saved = ids === null || edited === null ? null : await this.read();
    const isContinued = saved?.fingerprint === this.fingerprint && (await this.hasFeatures(saved));
    if (!isContinued) this.digest = createHash("sha256");
    return FeatureSpool.create(this.path, isContinued ? saved.spool : undefined, this.digest);
  }

  /** Whether the file has the features that it was saved with; they are the beginning of the digest then. */
  private async hasFeatures({ spool: { size }, features }: SavedDownload): Promise<boolean> {
    const bytes = createReadStream(this.path, { end: Math.max(0, size - 1) });
    if (size > 0) for await (const chunk of bytes) this.digest.update(chunk as Buffer);
    return this.digest.copy().digest("hex") === features;
  }

  private async read(): Promise<SavedDownload | null> {
    try {
      const saved: unknown = JSON.parse(await readFile(`${this.base}.json`, "utf8"));
      if (!isObject(saved) || saved.version !== version) return null;
      const found = saved as unknown as SavedDownload;
      const isWhole = found.check === checkOf(found) && (await stat(this.path)).size >= found.spool.size;
      return isWhole ? found : null;
    } catch {
      // Without a usable state, the download starts again.
      return null;
    }
  }

  /** Saves how far the download is. @throws output-failed */
  async save(spool: FeatureSpool): Promise<void> {
    const temporary = `${this.base}.json.${process.pid}`;
    try {
      const features = this.digest.copy().digest("hex");
      const state = { fingerprint: this.fingerprint, spool: await spool.checkpoint(), features };
      const saved: SavedDownload = { version, ...state, check: checkOf(state) };
      await writeFile(temporary, JSON.stringify(saved));
      await rename(temporary, `${this.base}.json`);
    } catch (error) {
      throw createError("output-failed", { output: this.path, reason: (error as Error).message }, error);
    }
  }

  /** @param isComplete whether nothing needs to be continued */
  async close(isComplete: boolean): Promise<void> {
    if (isComplete) for (const name of [this.path, `${this.base}.json`]) await rm(name, { force: true });
    await this.lockFile.release();
  }
}

const bytesOf = (ids: Float64Array | null): Uint8Array =>
  ids === null ? new Uint8Array() : new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength);
