import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { type JournalHeader, type JournalLine, type JournalRequest, journalPath } from "./journal.js";

/** A journal as a run left it. */
export interface JournaledRun extends JournalHeader {
  /** It came to its end, or to one that it knew. */
  readonly isEnded: boolean;
  /** Batches that it sent. */
  readonly batches: number;
  /** Those of which it does not say what came of them. */
  readonly uncertain: readonly (JournalRequest & { readonly batch: number; readonly time: string })[];
  /** Places (`Sent.first`) that are settled, as [first, behind the last]; only where nothing else tells features apart. */
  readonly settledRanges: readonly (readonly [number, number])[];
}

/**
 * Reads the journal of a map. A last line that was cut short is no line: what it would have said was not done yet.
 * @returns null where there is none @throws input-unreadable
 */
export async function readJournal(folder: string): Promise<JournaledRun | null> {
  const path = journalPath(folder);
  if (!existsSync(path)) return null;
  let beginning: JournalHeader | null = null;
  let isEnded = false;
  let batches = 0;
  const open = new Map<number, JournalRequest & { batch: number; time: string }>();
  const settledRanges: [number, number][] = [];
  try {
    for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = parseLine(text);
      if (line?.line === "BEGIN") beginning = line;
      if (line?.line === "END") isEnded = true;
      if (line?.line === "SENT") {
        batches = Math.max(batches, line.batch + 1);
        open.set(line.batch, line);
      }
      if (line?.line === "ACK") {
        const sent = open.get(line.batch);
        open.delete(line.batch);
        if (sent?.first !== undefined && line.outcome === "done")
          settledRanges.push([sent.first, sent.first + sent.features]);
      }
    }
  } catch (error) {
    throw createError("input-unreadable", { source: path, reason: describeSystemError(error) }, error);
  }
  if (!beginning) return null;
  const { run, service, map, mode, fingerprint } = beginning;
  const uncertain = [...open.values()].filter(
    (sent, place, all) => !isSupersededBy(sent, settledRanges, all.slice(place + 1)),
  );
  return { run, service, map, mode, fingerprint, isEnded, batches, uncertain, settledRanges };
}

/** Whether the same features were sent once more: then that request tells what became of them. */
function isSupersededBy(
  { first, features }: JournalRequest,
  settled: JournaledRun["settledRanges"],
  later: readonly JournalRequest[],
): boolean {
  if (first === undefined) return false;
  const behind = first + features;
  return settled.some((range) => range[0] <= first && behind <= range[1]) || later.some((sent) => sent.first === first);
}

function parseLine(text: string): JournalLine | null {
  try {
    return JSON.parse(text) as JournalLine;
  } catch {
    return null;
  }
}

/** Requests of an earlier run that the service may be working on still. */
export interface UncertainRequests {
  readonly batches: number;
  readonly features: number;
  /** When the last of them was sent. */
  readonly since: Date;
}

/**
 * What a run that died left in doubt: who reads the map next waits first until it is quiet (`SyncRequest.settle` after
 * `since`). @returns null where nothing is in doubt @throws input-unreadable
 */
export async function findUncertainRequests(folder: string): Promise<UncertainRequests | null> {
  const { uncertain = [] } = (await readJournal(folder)) ?? {};
  if (uncertain.length === 0) return null;
  return {
    batches: uncertain.length,
    features: uncertain.reduce((sum, { features }) => sum + features, 0),
    since: new Date(Math.max(...uncertain.map(({ time }) => Date.parse(time)))),
  };
}
