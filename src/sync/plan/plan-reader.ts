import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Compile, type Validator } from "typebox/compile";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import type { Spool } from "../../io/input/spool.js";
import { readTextLines } from "../../io/input/text-lines.js";
import { isGeometry } from "./is-geometry.js";
import type { OpenPlan, PlanAction, PlanCounts, PlanEnd, PlanFileHeader } from "./plan.js";
import { actionOrder, planVersion } from "./plan.js";
import { actionSchemas, EndSchema, HeaderSchema } from "./plan-schema.js";
import { countAction, createCounts } from "./plan-writer.js";
import { isLineOfKind, openWrittenPlan } from "./written-plan.js";

interface PlanLine {
  readonly text: string;
  /** Line number, from 1. */
  readonly number: number;
}

type JsonObject = Readonly<Record<string, unknown>>;

type ActionKind = PlanAction["action"];

/**
 * Reads and validates a whole plan: that it is complete, unmodified and meaningful. Applies a copy in the spool, which
 * other processes do not change.
 * @throws input-missing, input-unreadable, plan-invalid, plan-version
 */
export async function openPlan(path: string, spool: Spool): Promise<OpenPlan> {
  const copy = join(spool.folder(), "plan.ndjson");
  await copyPlan(path, copy);
  const reader = new PlanReader(path);
  let number = 0;
  for await (const lines of readTextLines(copy))
    for (const { text } of lines) reader.readLine({ text, number: ++number });
  const { header, end } = reader.finish();
  return { ...openWrittenPlan(copy, { ...header, put: end.put }, end.counts), path };
}

async function copyPlan(path: string, copy: string): Promise<void> {
  try {
    await pipeline(createReadStream(path), createWriteStream(copy, { mode: 0o600 }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw createError("input-missing", { source: path }, error);
    throw createError("input-unreadable", { source: path, reason: describeSystemError(error) }, error);
  }
}

const editedMessage = "its digest does not match its lines: it was edited, or damaged";
const notAPlanMessage = "it does not start with the header of a plan";

/** Compiled when the first plan is read. */
let compiledValidators: Readonly<Record<ActionKind | "header" | "end", Validator>> | null = null;
const getValidators = () =>
  (compiledValidators ??= {
    header: Compile(HeaderSchema),
    end: Compile(EndSchema),
    create: Compile(actionSchemas.create),
    update: Compile(actionSchemas.update),
    delete: Compile(actionSchemas.delete),
    keep: Compile(actionSchemas.keep),
  });

class PlanReader {
  private header: PlanFileHeader | null = null;
  private end: PlanEnd | null = null;
  private readonly counts = createCounts();
  /** Index in `actionOrder` of the previous action. */
  private lastActionIndex = 0;
  private readonly hash = createHash("sha256");
  private lineCount = 0;

  /** @param path for error messages */
  constructor(private readonly path: string) {}

  /** @throws plan-invalid, plan-version */
  readLine(line: PlanLine): void {
    this.lineCount = line.number;
    const members = this.parse(line);
    if (this.end !== null) throw this.createInvalidError(line, "there are lines after its end");
    if (members.type === "end" && this.header !== null) {
      this.end = this.readEnd(members, line);
      return;
    }
    this.hash.update(`${line.text}\n`);
    if (this.header === null) this.header = this.readHeader(members);
    else countAction(this.counts, this.readAction(members, line));
  }

  /** @throws plan-invalid if the end is missing */
  finish(): { header: PlanFileHeader; end: PlanEnd } {
    const { header, end, lineCount: number } = this;
    if (header === null || end === null)
      throw this.createInvalidError({ number }, "it has no end: it is truncated, or is still being written");
    return { header, end };
  }

  private parse(line: PlanLine): JsonObject {
    try {
      const value: unknown = JSON.parse(line.text);
      if (typeof value === "object" && value !== null) return value as JsonObject;
    } catch {
      // Reported below.
    }
    const reason =
      this.header === null
        ? notAPlanMessage
        : "the line is not a complete JSON object: it is truncated, or was changed";
    throw this.createInvalidError(line, reason);
  }

  private readHeader(members: JsonObject): PlanFileHeader {
    if (members.type !== "plan") throw this.createInvalidError({ number: 1 }, notAPlanMessage);
    const { version } = members;
    if (version !== planVersion && Number.isSafeInteger(version))
      throw createError("plan-version", { plan: this.path, version: version as number, known: planVersion });
    this.validate("header", members, { number: 1 });
    return restoreInfinity(members as unknown as PlanFileHeader);
  }

  private readAction(members: JsonObject, line: PlanLine): PlanAction {
    const { action } = members;
    const stage = (actionOrder as readonly unknown[]).indexOf(action);
    if (stage < 0) throw this.createInvalidError(line, `"action" must be one of ${actionOrder.join(", ")}`);
    if (stage < this.lastActionIndex)
      throw this.createInvalidError(
        line,
        `wrong order: ${actionOrder[stage]!} after ${actionOrder[this.lastActionIndex]!}`,
      );
    this.lastActionIndex = stage;
    this.validate(actionOrder[stage]!, members, line);
    if (!isLineOfKind(actionOrder[stage]!, line.text)) throw this.createInvalidError(line, editedMessage);
    for (const part of ["feature", "before"] as const) {
      const { geometry = null } = (members[part] ?? {}) as { geometry?: unknown };
      if (geometry !== null && !isGeometry(geometry))
        throw this.createInvalidError(line, `${part}.geometry is not a geometry in longitude and latitude`);
    }
    return members as unknown as PlanAction;
  }

  private readEnd(members: JsonObject, line: PlanLine): PlanEnd {
    this.validate("end", members, line);
    const end = members as unknown as PlanEnd;
    for (const [name, number] of Object.entries(this.counts)) {
      const expected = end.counts[name as keyof PlanCounts];
      if (expected !== number)
        throw this.createInvalidError(
          line,
          `the count of ${name} is ${expected}, but the lines add up to ${number}: some were changed`,
        );
    }
    // The hash covers all previous lines; a plan with the same content in other bytes was not written by geoferry.
    if (this.hash.digest("hex") !== end.sha256) throw this.createInvalidError(line, editedMessage);
    return end;
  }

  private validate(what: ActionKind | "header" | "end", members: JsonObject, line: Pick<PlanLine, "number">): void {
    const validator = getValidators()[what];
    if (validator.Check(members)) return;
    const [error] = validator.Errors(members);
    const place = error?.instancePath.slice(1).replaceAll("/", ".") || what;
    throw this.createInvalidError(line, `${place} ${error?.message ?? "is not valid in a plan"}`);
  }

  private createInvalidError(line: Pick<PlanLine, "number">, reason: string) {
    return createError("plan-invalid", { plan: this.path, line: line.number, reason });
  }
}

/** JSON cannot represent infinity, the count of limits that are shares. */
function restoreInfinity(header: PlanFileHeader): PlanFileHeader {
  const { guards } = header.settings;
  const open = <T extends { count: number | null } | null>(limit: T): T =>
    limit && limit.count === null ? { ...limit, count: Number.POSITIVE_INFINITY } : limit;
  const settings = {
    ...header.settings,
    guards: { ...guards, maxDelete: open(guards.maxDelete), maxUpdate: open(guards.maxUpdate) },
  };
  return { ...header, settings };
}
