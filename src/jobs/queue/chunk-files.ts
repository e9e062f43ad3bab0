/** The folder beside the output, on shared storage, through which workers exchange chunks of a large input. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { newMark } from "../../io/output/abandoned-files.js";
import { shortenName } from "../../io/output/temporary-names.js";
import { makeFolders } from "../../make-folders.js";
import type { Piece, PieceResult, TaskSpec } from "../../pipeline/execute/task.js";

/** Limit of the output's name within the folder's name, since file names are limited to 255 bytes. */
const maxNameBytes = 150;

/** @param id of the job, so that every worker that takes it finds the same folder */
export const chunkFolder = (output: string, id: string): string =>
  join(dirname(output), `.${shortenName(basename(output), maxNameBytes)}.${id}.chunks`);

/** A folder for each chunk size: the same number stands for other features when chunks have another size. */
export const sizedChunkFolder = (folder: string, bytes: number): string => join(folder, String(bytes));

export const removeChunks = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** Writes atomically. */
function write(path: string, value: unknown): void {
  const own = `${path}.${newMark()}`;
  writeFileSync(own, serialize(value), { mode: 0o600 });
  renameSync(own, path);
}

const read = (path: string): unknown => deserialize(readFileSync(path));

const digestsPath = (folder: string) => join(folder, "digests");
const taskPath = (folder: string, task: number) => join(folder, `task-${task}`);
const workPath = (folder: string, task: number, group: number) => join(folder, `pieces-${task}-${group}`);
const resultPath = (folder: string, task: number, group: number) => join(folder, `results-${task}-${group}`);

/** Stores the digests that the first worker computed; creates the folder. */
export function writeDigests(folder: string, digests: readonly (string | null)[]): void {
  makeFolders(folder, 0o700);
  write(digestsPath(folder), digests);
}

/** Null if no worker has stored them. */
export const readDigests = (folder: string): readonly (string | null)[] | null =>
  existsSync(digestsPath(folder)) ? (read(digestsPath(folder)) as readonly (string | null)[]) : null;

export const writeTask = (folder: string, task: number, spec: TaskSpec): void => write(taskPath(folder, task), spec);
export const readTask = (folder: string, task: number): TaskSpec => read(taskPath(folder, task)) as TaskSpec;

export const writeWork = (folder: string, task: number, group: number, work: readonly Piece[]): void =>
  write(workPath(folder, task, group), work);
export const readWork = (folder: string, task: number, group: number): readonly Piece[] =>
  read(workPath(folder, task, group)) as readonly Piece[];

export const hasResults = (folder: string, task: number, group: number): boolean =>
  existsSync(resultPath(folder, task, group));
export const writeResults = (folder: string, task: number, group: number, results: readonly PieceResult[]): void =>
  write(resultPath(folder, task, group), results);
export const readResults = (folder: string, task: number, group: number): readonly PieceResult[] =>
  read(resultPath(folder, task, group)) as readonly PieceResult[];
