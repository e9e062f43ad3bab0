/** How much a conversion may lose before it fails with nothing written. */
import { counted } from "../counted.js";
import { fault } from "../errors.js";
import type { Loss } from "../model/report.js";
import type { Gathered } from "./report.js";
import type { ConvertRequest } from "./request.js";

/** `12`, `5%`. */
export interface Limit {
  readonly text: string;
  readonly count: number;
  readonly share: number;
}

/** @param option the flag, for messages @returns null where there is no limit @throws option-invalid */
export function parseLimit(option: string, text: string | undefined): Limit | null {
  if (text === undefined) return null;
  const match = /^(\d+)(\.\d+)?(%?)$/.exec(text);
  if (!match || (match[2] && !match[3])) {
    throw fault("option-invalid", { option, value: text, expected: "a number like 100 or a share like 5%" });
  }
  const number = Number(text.replace("%", ""));
  return match[3] ? { text, count: Number.POSITIVE_INFINITY, share: number / 100 } : { text, count: number, share: 1 };
}

/** Whether `found` of `all` features is more than the limit allows. A count is compared with the count alone. */
const exceeds = ({ count, share, text }: Limit, found: number, all: number): boolean =>
  text.endsWith("%") ? found > share * all : found > count;

/** The limits of a request that are compared once everything was read. */
const limits = [
  {
    option: "--max-losses",
    asked: ({ maxLosses }: ConvertRequest) => maxLosses,
    found: ({ losses }: Gathered) => losses.list().reduce((sum, { count }) => sum + count, 0),
    all: ({ read }: Gathered) => read,
    refusal: (count: number, limit: string, { losses }: Gathered) =>
      fault("guard-losses", { count, limit, examples: worstKinds(losses.list()) }),
  },
  {
    option: "--max-without-geometry",
    asked: ({ maxWithoutGeometry }: ConvertRequest) => maxWithoutGeometry,
    found: ({ withoutGeometry }: Gathered) => withoutGeometry,
    all: ({ carried }: Gathered) => carried,
    refusal: (count: number, limit: string) => fault("guard-without-geometry", { count, limit }),
  },
] as const;

/** @throws option-invalid */
export function checkLimits(request: ConvertRequest): void {
  parseLimit("--max-rejects", request.maxRejects);
  for (const { option, asked } of limits) parseLimit(option, asked(request));
}

/** @throws guard-losses, guard-without-geometry */
export function guardLimits(request: ConvertRequest, gathered: Gathered): void {
  for (const { option, asked, found, all, refusal } of limits) {
    const limit = parseLimit(option, asked(request));
    if (limit === null) continue;
    const count = found(gathered);
    if (exceeds(limit, count, all(gathered))) throw refusal(count, limit.text, gathered);
  }
}

/** So many kinds of loss are named. */
const mostKinds = 5;

/** "text-cut of name (12)" for each kind, those that lose most first. */
function worstKinds(losses: readonly Loss[]): string[] {
  const list = [...losses].sort((a, b) => b.count - a.count);
  const named = list
    .slice(0, mostKinds)
    .map(({ code, field, count }) => `${code}${field === undefined ? "" : ` of ${field}`} (${count})`);
  return list.length > mostKinds ? [...named, counted(list.length - mostKinds, "more kind")] : named;
}
