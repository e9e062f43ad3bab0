/** Checks the data of queue jobs, which other programs can change in Redis. */
import type { JobPayload } from "./job-payload.js";

type Check = (value: unknown) => boolean;

type Members = Readonly<Record<string, Check>>;

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isIndex: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const nullable =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const recordOf =
  (members: Members): Check =>
  (value) =>
    isRecord(value) && Object.entries(members).every(([name, check]) => check(value[name]));

const isInputName: Check = (value) => isText(value) || recordOf({ textIndex: isIndex, rest: isText })(value);

const isSourceList = nullable(listOf(recordOf({ name: isText, size: isText, modified: isText })));

const payloadMembers: Members = {
  version: isText,
  formats: listOf(isText),
  runId: isText,
  startedBy: isText,
  file: isText,
  digest: isText,
  step: isText,
  settings: isText,
  now: Number.isFinite,
  trace: optional(isRecord),
  work: isRecord,
  refusedBy: optional(listOf(isText)),
};

const workMembers: ReadonlyMap<unknown, Members> = new Map<string, Members>([
  [
    "conversion",
    {
      inputs: listOf(isInputName),
      output: nullable(isText),
      overwrite: isFlag,
      sources: isSourceList,
      pendingCommit: optional(recordOf({ files: Array.isArray, done: isRecord })),
      chunkBytes: optional(Number.isFinite),
    },
  ],
  ["sync", { service: isText, insecureHttp: isFlag, state: isText, sources: isSourceList }],
  ["chunk", { folder: isText, task: isIndex, group: isIndex }],
]);

const findWrongMember = (record: Readonly<Record<string, unknown>>, members: Members): string | null =>
  Object.entries(members).find(([name, check]) => !check(record[name]))?.[0] ?? null;

/** @param data of a queue job @returns why it is not a `JobPayload`; null if it is one */
export function findDamage(data: unknown): string | null {
  // BullMQ gives a job without data an empty object.
  if (!isRecord(data) || Object.keys(data).length === 0) return "its data is missing or is not a JSON object";
  const member = findWrongMember(data, payloadMembers);
  if (member !== null) return `"${member}" in its data is missing or has another type`;
  const work = data.work as Readonly<Record<string, unknown>>;
  const members = workMembers.get(work.kind);
  if (!members) return `its data has the unknown kind of work ${JSON.stringify(work.kind)}`;
  const wrong = findWrongMember(work, members);
  return wrong === null ? null : `"work.${wrong}" in its data is missing or has another type`;
}

export const isPayload = (data: unknown): data is JobPayload => findDamage(data) === null;
