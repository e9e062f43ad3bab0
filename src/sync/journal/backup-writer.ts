import { createHash } from "node:crypto";
import { type FileHandle, open, stat } from "node:fs/promises";
import { canonicalFeature, defaultRounding, digestText } from "../../canonical/canonical-feature.js";
import { createError, GeoferryError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { createSink } from "../../io/output/create-sink.js";
import { stringifyExactly } from "../../model/exact-json.js";
import type { SinkFile } from "../../plugin/format.js";
import type { RemoteKey } from "../../remote/wire.js";
import { createKeyReader } from "../keys/key-value.js";
import type { OpenPlan, PlannedFeature, SyncKey } from "../plan/plan.js";
import { readCreates } from "../plan/plan-creates.js";
import { type BackupHeader, backupLines, backupVersion, shortDigest } from "./backup.js";
import { isIdList, readCreationEntries } from "./backup-reader.js";

/** Records what the service created during a run. */
export interface CreationRecorder {
  /** Records ids that the service assigned. @throws backup-failed */
  recordIds(ids: readonly string[]): Promise<void>;
  /**
   * Records created and updated features that the map shows differently from how they were sent: digests by id. @throws
   * backup-failed
   */
  recordDigests(digests: Readonly<Record<string, string>>): Promise<void>;
  /** The recorded ids, in groups. @throws input-unreadable */
  readIds(): AsyncIterable<readonly string[]>;
}

export const nullRecorder: CreationRecorder = {
  recordIds: async () => {},
  recordDigests: async () => {},
  async *readIds() {},
};

type ProgressCallback = (done: number) => void;

/**
 * Writes the backup of a run. What the run changes, deletes and intends to create is on disk before the first request;
 * what the service creates is appended during the run. The file is valid JSON after each addition. If the run is
 * killed, only the ids of requests without a response are missing, whose features are known by their keys.
 */
export class BackupWriter implements CreationRecorder, AsyncDisposable {
  private lastWrite: Promise<void> = Promise.resolve();
  private isFirst = true;
  private readonly createdHash = createHash("sha256");

  private constructor(
    readonly path: string,
    private readonly file: FileHandle,
    /** Offset of the next addition, which overwrites the end of the file. */
    private offset: number,
  ) {}

  /**
   * @returns null if the plan writes nothing; then no file is created
   * @throws output-exists, backup-failed
   */
  static async create(
    plan: OpenPlan,
    path: string,
    now: Date,
    onProgress: ProgressCallback,
  ): Promise<BackupWriter | null> {
    const { update, delete: removed, create } = plan.counts;
    if (update + removed + create === 0) return null;
    try {
      await writeInitialBackup(plan, path, now, onProgress);
      const { size } = await stat(path);
      return new BackupWriter(path, await open(path, "r+"), size - formatEnding(backupLines.open).length);
    } catch (error) {
      if (error instanceof GeoferryError && error.code === "output-failed")
        throw backupError(path, String(error.details.reason), error);
      if (error instanceof GeoferryError) throw error;
      throw backupError(path, describeSystemError(error), error);
    }
  }

  recordIds(ids: readonly string[]): Promise<void> {
    return ids.length === 0 ? Promise.resolve() : this.add(ids);
  }

  recordDigests(digests: Readonly<Record<string, string>>): Promise<void> {
    const short = Object.entries(digests).map(([id, digest]) => [id, shortDigest(digest)] as const);
    return short.length === 0 ? Promise.resolve() : this.add(Object.fromEntries(short));
  }

  async *readIds(): AsyncGenerator<readonly string[]> {
    await this.lastWrite;
    for await (const entry of readCreationEntries(this.path)) if (isIdList(entry)) yield entry;
  }

  /** Marks the backup as complete. @throws backup-failed */
  end(): Promise<void> {
    return this.write(() => formatEnding(backupLines.ended(this.createdHash.digest("hex"))), "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lastWrite.catch(() => {});
    await this.file.close();
  }

  private add(entry: object): Promise<void> {
    const text = JSON.stringify(entry);
    return this.write(() => {
      const comma = this.isFirst ? "" : ",";
      this.isFirst = false;
      this.createdHash.update(`${text}\n`);
      return `${comma}\n${text}`;
    }, formatEnding(backupLines.open));
  }

  /** Writes text and ending in one operation over the current ending, after all earlier writes. */
  private write(textOf: () => string, end: string): Promise<void> {
    this.lastWrite = this.lastWrite.then(async () => {
      const text = textOf();
      try {
        await this.file.write(text + end, this.offset);
        if (end === "") await this.file.datasync();
      } catch (error) {
        throw backupError(this.path, describeSystemError(error), error);
      }
      this.offset += Buffer.byteLength(text);
    });
    return this.lastWrite;
  }
}

const formatEnding = (line: string): string => `\n${line}\n`;

const backupError = (backup: string, reason: string, cause: unknown) =>
  createError("backup-failed", { backup, reason }, cause);

/** Writes everything except later additions, and flushes it to disk. */
async function writeInitialBackup(
  plan: OpenPlan,
  path: string,
  now: Date,
  onProgress: ProgressCallback,
): Promise<void> {
  const { service, map, settings, snapshot, backupKey, key } = plan.header;
  const { scope, precision } = settings;
  const time = now.toISOString();
  const untouched = snapshot.features - plan.counts.update - plan.counts.delete;
  const header: BackupHeader = {
    ...{ backup: backupVersion, service, map, key: backupKey ?? key },
    ...{ scope, precision, untouched, time },
  };
  await using sink = await createSink(path, { overwrite: false });
  const file = await sink.create();
  const start = `{"type":"FeatureCollection","geoferry":${JSON.stringify(header)},"features":[`;
  const lines = new LineWriter(file, start, onProgress);
  let areAllKeyed = key?.by === "property";
  for await (const action of plan.actions(["update", "delete"])) {
    if (action.action !== "update" && action.action !== "delete") continue;
    areAllKeyed &&= action.key !== null;
    await lines.add(stringifyExactly(action.before));
  }
  await lines.beginPart(backupLines.equal);
  if (!areAllKeyed)
    for await (const action of plan.actions(["keep"]))
      if (action.action === "keep" && action.equalsChanged) await lines.add(JSON.stringify(action.id));
  const rounding = { ...defaultRounding, degrees: precision };
  await lines.beginPart(backupLines.updates);
  for await (const action of plan.actions(["update"]))
    if (action.action === "update")
      await lines.add(JSON.stringify([action.id, shortDigest(digestText(canonicalFeature(action.feature, rounding)))]));
  await lines.beginPart(backupLines.creates);
  if (plan.counts.create > 0)
    for await (const creates of readCreates(plan))
      for (const create of creates) {
        const digest = create.agreement?.sent ?? digestText(canonicalFeature(create.action.feature, rounding));
        const createKey = backupKey ? propertyKeyOf(create.action.feature, backupKey) : create.key;
        await lines.add(JSON.stringify([createKey, shortDigest(digest)]));
      }
  await lines.beginPart(backupLines.created(await lines.digest()));
  await lines.beginPart(backupLines.open);
  await file.write(Buffer.from("\n"));
  await sink.commit();
}

const propertyKeyOf = ({ properties }: PlannedFeature, key: SyncKey): RemoteKey | null =>
  key.by === "property" ? createKeyReader(key.name).read(properties) : null;

/** Characters to buffer before a write. */
const chunkSize = 1 << 18;

/** Writes array elements, one per line. */
class LineWriter {
  private readonly hash = createHash("sha256");
  private count = 0;
  private isFirst = true;

  constructor(
    private readonly file: SinkFile,
    /** The first line. */
    private buffer: string,
    private readonly onProgress: ProgressCallback,
  ) {}

  add(text: string): Promise<void> | undefined {
    this.buffer += `${this.isFirst ? "" : ","}\n${text}`;
    this.isFirst = false;
    this.count += 1;
    if (this.count % 1000 === 0) this.onProgress(this.count);
    return this.buffer.length >= chunkSize ? this.flush() : undefined;
  }

  async beginPart(line: string): Promise<void> {
    this.buffer += `\n${line}`;
    this.isFirst = true;
    await this.flush();
  }

  /** SHA-256 of the lines so far, without the last line feed; hexadecimal. */
  async digest(): Promise<string> {
    await this.flush();
    return this.hash.copy().digest("hex");
  }

  private async flush(): Promise<void> {
    const bytes = Buffer.from(this.buffer);
    this.buffer = "";
    this.hash.update(bytes);
    await this.file.write(bytes);
  }
}
