import { Compile, type Validator } from "typebox/compile";
import { fault } from "../errors.js";
import { systemReason } from "../io/source.js";
import type { OpenPlan, PlanAction, PlanCounts, PlanEnd, PlanHeader } from "./plan.js";
import { planOrder, planVersion } from "./plan.js";
import { isGeometry } from "./plan-geometry.js";
import { actionSchemas, End, Header } from "./plan-schema.js";
import { count, newCounts } from "./plan-writer.js";
import { spooledLines } from "./spooled-lines.js";

interface PlanLine {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

type Members = Readonly<Record<string, unknown>>;

type Kind = PlanAction["action"];

/**
 * Reads a plan from its first line to its last, to know that it is whole and says nothing that cannot be meant.
 * @throws input-missing, input-unreadable, plan-invalid, plan-version
 */
export async function openPlan(path: string): Promise<OpenPlan> {
  const reader = new PlanReader(path);
  for await (const line of reader.lines()) reader.take(line);
  const { header, counts } = reader.whole();
  return { path, header, counts, actions: (wanted = planOrder) => actionsOf(path, new Set(wanted)) };
}

async function* actionsOf(path: string, wanted: ReadonlySet<Kind>): AsyncGenerator<PlanAction> {
  const last = Math.max(...[...wanted].map((kind) => planOrder.indexOf(kind)));
  const reader = new PlanReader(path);
  for await (const line of reader.lines()) {
    const action = reader.take(line);
    if (action === null) continue;
    if (planOrder.indexOf(action.action) > last) return;
    if (wanted.has(action.action)) yield action;
  }
  reader.whole();
}

const notAPlan = "it does not begin as a plan does";

/** Validators are made when the first plan is read. */
let compiled: Readonly<Record<Kind | "header" | "end", Validator>> | null = null;
const validators = () =>
  (compiled ??= {
    header: Compile(Header),
    end: Compile(End),
    create: Compile(actionSchemas.create),
    update: Compile(actionSchemas.update),
    delete: Compile(actionSchemas.delete),
    keep: Compile(actionSchemas.keep),
  });

class PlanReader {
  private header: PlanHeader | null = null;
  private end: PlanEnd | null = null;
  private readonly counts = newCounts();
  /** Position in `planOrder` of the action before. */
  private stage = 0;
  private readonly seen = { lines: 0 };

  constructor(private readonly path: string) {}

  async *lines(): AsyncGenerator<PlanLine> {
    let number = 0;
    try {
      for await (const lines of spooledLines(this.path)) for (const { text } of lines) yield { text, number: ++number };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") throw fault("input-missing", { source: this.path }, error);
      if (code === undefined) throw error;
      throw fault("input-unreadable", { source: this.path, reason: systemReason(error) }, error);
    }
  }

  /** @returns the action of a line; null of the header and the end */
  take(line: PlanLine): PlanAction | null {
    this.seen.lines = line.number;
    const members = this.parse(line);
    if (this.header === null) {
      this.header = this.readHeader(members);
      return null;
    }
    if (this.end !== null) throw this.invalid(line, "there are lines after its end");
    if (members.type === "end") {
      this.end = this.readEnd(members, line);
      return null;
    }
    const action = this.readAction(members, line);
    count(this.counts, action);
    return action;
  }

  /** @throws plan-invalid where the end is missing */
  whole(): { header: PlanHeader; counts: PlanCounts } {
    if (this.header === null || this.end === null)
      throw fault("plan-invalid", {
        plan: this.path,
        line: this.seen.lines,
        reason: "it has no end: it was cut short, or is being written",
      });
    return { header: this.header, counts: this.counts };
  }

  private parse(line: PlanLine): Members {
    try {
      const value: unknown = JSON.parse(line.text);
      if (typeof value === "object" && value !== null) return value as Members;
    } catch {
      // Told below.
    }
    const reason = this.header === null ? notAPlan : "this is no whole object of JSON: it was cut short, or changed";
    throw this.invalid(line, reason);
  }

  private readHeader(members: Members): PlanHeader {
    if (members.type !== "plan") throw this.invalid({ number: 1 }, notAPlan);
    const { version } = members;
    if (version !== planVersion && Number.isSafeInteger(version))
      throw fault("plan-version", { plan: this.path, version: version as number, known: planVersion });
    this.check("header", members, { number: 1 });
    return withoutLimits(members as unknown as PlanHeader);
  }

  private readAction(members: Members, line: PlanLine): PlanAction {
    const { action } = members;
    const stage = (planOrder as readonly unknown[]).indexOf(action);
    if (stage < 0) throw this.invalid(line, `"action" is none of ${planOrder.join(", ")}`);
    if (stage < this.stage)
      throw this.invalid(line, `${planOrder[stage]!} stands after ${planOrder[this.stage]!}, which is the wrong order`);
    this.stage = stage;
    this.check(planOrder[stage]!, members, line);
    for (const part of ["feature", "before"] as const) {
      const { geometry = null } = (members[part] ?? {}) as { geometry?: unknown };
      if (geometry !== null && !isGeometry(geometry))
        throw this.invalid(line, `${part}.geometry is not a geometry in longitude and latitude`);
    }
    return members as unknown as PlanAction;
  }

  private readEnd(members: Members, line: PlanLine): PlanEnd {
    this.check("end", members, line);
    const end = members as unknown as PlanEnd;
    for (const [name, number] of Object.entries(this.counts)) {
      const said = end.counts[name as keyof PlanCounts];
      if (said !== number)
        throw this.invalid(line, `it says that ${name} is ${said}, but its lines make ${number}: some were changed`);
    }
    return end;
  }

  private check(what: Kind | "header" | "end", members: Members, line: Pick<PlanLine, "number">): void {
    const validator = validators()[what];
    if (validator.Check(members)) return;
    const [error] = validator.Errors(members);
    const place = error?.instancePath.slice(1).replaceAll("/", ".") || what;
    throw this.invalid(line, `${place} ${error?.message ?? "is not as in a plan"}`);
  }

  private invalid(line: Pick<PlanLine, "number">, reason: string) {
    return fault("plan-invalid", { plan: this.path, line: line.number, reason });
  }
}

/** JSON has no infinity: where a limit is a share, any count is allowed. */
function withoutLimits(header: PlanHeader): PlanHeader {
  const { guards } = header.settings;
  const open = <T extends { count: number | null } | null>(limit: T): T =>
    limit && limit.count === null ? { ...limit, count: Number.POSITIVE_INFINITY } : limit;
  const settings = {
    ...header.settings,
    guards: { ...guards, maxDelete: open(guards.maxDelete), maxUpdate: open(guards.maxUpdate) },
  };
  return { ...header, settings };
}
