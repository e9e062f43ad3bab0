import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { readTextLines } from "../../io/input/text-lines.js";
import { type JournalHeader, type JournalLine, type JournalRequest, journalPath } from "./journal.js";

/** The journal of an earlier run. */
export interface JournaledRun extends JournalHeader {
  /** Whether the run completed or ended in an orderly way. */
  readonly isEnded: boolean;
  /** Number of batches sent. */
  readonly batches: number;
  /** Batches without a recorded outcome. */
  readonly uncertain: readonly (JournalRequest & { readonly batch: number; readonly time: string })[];
  /** Whether requests to create features name them. */
  readonly hasNames: boolean;
  /** Settled ranges of `JournalRequest.first`, as [first, end); only for features without a key. */
  readonly settledRanges: readonly (readonly [number, number])[];
}

/**
 * Reads the journal of a map. Ignores a truncated last line, whose request was not sent.
 * @returns null if there is none
 * @throws input-unreadable
 */
export const readJournal = (folder: string, plan: string | null = null): Promise<JournaledRun | null> =>
  readJournalFile(journalPath(folder, plan));

async function readJournalFile(path: string): Promise<JournaledRun | null> {
  if (!existsSync(path)) return null;
  let header: JournalHeader | null = null;
  let isEnded = false;
  let hasNames = false;
  let batches = 0;
  const open = new Map<number, JournalRequest & { batch: number; time: string }>();
  const settledRanges: [number, number][] = [];
  try {
    for await (const line of readJournalLines(path)) {
      if (line?.line === "BEGIN") header = line;
      if (line?.line === "END") isEnded = true;
      if (line?.line === "SENT") {
        batches = Math.max(batches, line.batch + 1);
        hasNames ||= line.names !== undefined;
        open.set(line.batch, line);
      }
      if (line?.line === "ACK") {
        const sent = open.get(line.batch);
        open.delete(line.batch);
        // Earlier requests for the same features, which this one replaced.
        const names = line.outcome === "done" ? sent?.names?.join() : undefined;
        for (const [batch, earlier] of names === undefined ? [] : open)
          if (earlier.names?.join() === names) open.delete(batch);
        if (sent?.first !== undefined && line.outcome === "done")
          settledRanges.push([sent.first, sent.first + sent.features]);
      }
    }
  } catch (error) {
    throw createError("input-unreadable", { source: path, reason: describeSystemError(error) }, error);
  }
  if (!header) return null;
  const { run, service, map, mode, fingerprint } = header;
  const uncertain = [...open.values()].filter(
    (sent, index, all) => !isSupersededBy(sent, settledRanges, all.slice(index + 1)),
  );
  return { run, service, map, mode, fingerprint, isEnded, batches, uncertain, hasNames, settledRanges };
}

async function* readJournalLines(path: string): AsyncGenerator<JournalLine | null> {
  for await (const lines of readTextLines(path)) for (const { text } of lines) yield parseLine(text);
}

/** Whether a later request sent the same features and determines their outcome. */
function isSupersededBy(
  { first, features, names }: JournalRequest,
  settled: JournaledRun["settledRanges"],
  later: readonly JournalRequest[],
): boolean {
  if (first === undefined) return false;
  // Their places among the creates change with what the map shows.
  if (names) return later.some((sent) => sent.names?.join() === names.join());
  const end = first + features;
  return settled.some((range) => range[0] <= first && end <= range[1]) || later.some((sent) => sent.first === first);
}

function parseLine(text: string): JournalLine | null {
  try {
    return JSON.parse(text) as JournalLine;
  } catch {
    return null;
  }
}

/** Requests of an earlier run that the service may still be processing. */
export interface UncertainRequests {
  readonly batches: number;
  readonly features: number;
  /** When the last one was sent. */
  readonly since: Date;
}

/**
 * Finds requests that an interrupted run left uncertain. The next reader of the map must first wait until they have
 * ended (`SyncRequest.settleTime` after `since`).
 * @returns null if there are none
 * @throws input-unreadable
 */
export async function findUncertainRequests(folder: string): Promise<UncertainRequests | null> {
  const names = existsSync(folder)
    ? readdirSync(folder).filter((name) => /^journal(-[0-9a-f]+)?\.ndjson$/.test(name))
    : [];
  const uncertain: JournaledRun["uncertain"][number][] = [];
  for (const name of names) uncertain.push(...((await readJournalFile(join(folder, name)))?.uncertain ?? []));
  if (uncertain.length === 0) return null;
  return {
    batches: uncertain.length,
    features: uncertain.reduce((sum, { features }) => sum + features, 0),
    since: new Date(Math.max(...uncertain.map(({ time }) => Date.parse(time)))),
  };
}
