import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { Compile, type Validator } from "typebox/compile";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import type { Spool } from "../../io/input/spool.js";
import { readSpooledLines } from "../source/spooled-lines.js";
import { isGeometry } from "./is-geometry.js";
import type { OpenPlan, PlanAction, PlanCounts, PlanEnd, PlanFileHeader } from "./plan.js";
import { actionOrder, planVersion } from "./plan.js";
import { actionSchemas, EndSchema, HeaderSchema } from "./plan-schema.js";
import { countAction, createCounts } from "./plan-writer.js";
import { isLineOfKind, openWrittenPlan } from "./written-plan.js";

interface PlanLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

type JsonObject = Readonly<Record<string, unknown>>;

type ActionKind = PlanAction["action"];

/**
 * Reads a plan from its first line to its last, to know that it is whole, as it was written, and says nothing that
 * cannot be meant. What was read is carried out: a copy of it lies in the spool, which nobody changes meanwhile.
 * @throws input-missing, input-unreadable, plan-invalid, plan-version
 */
export async function openPlan(path: string, spool: Spool): Promise<OpenPlan> {
  const copy = join(spool.folder(), "plan.ndjson");
  await copyPlan(path, copy);
  const reader = new PlanReader(path);
  let number = 0;
  for await (const lines of readSpooledLines(copy))
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

const editedMessage = "its lines are not those that geoferry plan wrote (by their digest): it was edited, or damaged";
const notAPlanMessage = "it does not begin as a plan does";

/** Validators are made when the first plan is read. */
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
  /** Position in `planOrder` of the action before. */
  private lastActionIndex = 0;
  private readonly hash = createHash("sha256");
  private lineCount = 0;

  /** @param path told in errors */
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

  /** @throws plan-invalid where the end is missing */
  finish(): { header: PlanFileHeader; end: PlanEnd } {
    const { header, end, lineCount: number } = this;
    if (header === null || end === null)
      throw this.createInvalidError({ number }, "it has no end: it was cut short, or is being written");
    return { header, end };
  }

  private parse(line: PlanLine): JsonObject {
    try {
      const value: unknown = JSON.parse(line.text);
      if (typeof value === "object" && value !== null) return value as JsonObject;
    } catch {
      // Told below.
    }
    const reason =
      this.header === null ? notAPlanMessage : "this is no whole object of JSON: it was cut short, or changed";
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
    if (stage < 0) throw this.createInvalidError(line, `"action" is none of ${actionOrder.join(", ")}`);
    if (stage < this.lastActionIndex)
      throw this.createInvalidError(
        line,
        `${actionOrder[stage]!} stands after ${actionOrder[this.lastActionIndex]!}, which is the wrong order`,
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
      const said = end.counts[name as keyof PlanCounts];
      if (said !== number)
        throw this.createInvalidError(
          line,
          `it says that ${name} is ${said}, but its lines make ${number}: some were changed`,
        );
    }
    // The hash of what stands before; a plan that says the same in other bytes was made by somebody else.
    if (this.hash.digest("hex") !== end.sha256) throw this.createInvalidError(line, editedMessage);
    return end;
  }

  private validate(what: ActionKind | "header" | "end", members: JsonObject, line: Pick<PlanLine, "number">): void {
    const validator = getValidators()[what];
    if (validator.Check(members)) return;
    const [error] = validator.Errors(members);
    const place = error?.instancePath.slice(1).replaceAll("/", ".") || what;
    throw this.createInvalidError(line, `${place} ${error?.message ?? "is not as in a plan"}`);
  }

  private createInvalidError(line: Pick<PlanLine, "number">, reason: string) {
    return createError("plan-invalid", { plan: this.path, line: line.number, reason });
  }
}

/** JSON has no infinity: where a limit is a share, any count is allowed. */
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
