/** How much a conversion may lose before it fails with nothing written. */

import { createError } from "../../errors.js";
import { formatCount } from "../../format-count.js";
import type { Loss } from "../../model/report.js";
import type { ReportBuilder } from "../report.js";
import type { ConvertRequest } from "../request.js";

/** `12`, `5%`. */
export interface Threshold {
  readonly text: string;
  readonly maxCount: number;
  readonly maxShare: number;
}

/** @param option the flag, for messages @returns null where there is no limit @throws option-invalid */
export function parseThreshold(option: string, text: string | undefined): Threshold | null {
  if (text === undefined) return null;
  const match = /^(\d+)(\.\d+)?(%?)$/.exec(text);
  if (!match || (match[2] && !match[3])) {
    throw createError("option-invalid", { option, value: text, expected: "a number like 100 or a share like 5%" });
  }
  const number = Number(text.replace("%", ""));
  return match[3]
    ? { text, maxCount: Number.POSITIVE_INFINITY, maxShare: number / 100 }
    : { text, maxCount: number, maxShare: 1 };
}

/** Whether `found` of `all` features is more than the limit allows. A count is compared with the count alone. */
const exceedsThreshold = ({ maxCount, maxShare, text }: Threshold, found: number, all: number): boolean =>
  text.endsWith("%") ? found > maxShare * all : found > maxCount;

/** The limits of a request that are compared once everything was read. */
const thresholds = [
  {
    option: "--max-losses",
    asked: ({ maxLosses }: ConvertRequest) => maxLosses,
    found: ({ losses }: ReportBuilder) => losses.list().reduce((sum, { count }) => sum + count, 0),
    all: ({ read }: ReportBuilder) => read,
    refusal: (count: number, limit: string, { losses }: ReportBuilder) =>
      createError("guard-losses", { count, limit, examples: describeWorstLosses(losses.list()) }),
  },
  {
    option: "--max-without-geometry",
    asked: ({ maxWithoutGeometry }: ConvertRequest) => maxWithoutGeometry,
    found: ({ withoutGeometry }: ReportBuilder) => withoutGeometry,
    all: ({ writtenFeatures }: ReportBuilder) => writtenFeatures,
    refusal: (count: number, limit: string) => createError("guard-without-geometry", { count, limit }),
  },
] as const;

/** @throws option-invalid */
export function checkThresholdOptions(request: ConvertRequest): void {
  parseThreshold("--max-rejects", request.maxRejects);
  for (const { option, asked } of thresholds) parseThreshold(option, asked(request));
}

/** @throws guard-losses, guard-without-geometry */
export function enforceThresholds(request: ConvertRequest, gathered: ReportBuilder): void {
  for (const { option, asked, found, all, refusal } of thresholds) {
    const limit = parseThreshold(option, asked(request));
    if (limit === null) continue;
    const count = found(gathered);
    if (exceedsThreshold(limit, count, all(gathered))) throw refusal(count, limit.text, gathered);
  }
}

/** So many kinds of loss are named. */
const maxListedKinds = 5;

/** "text-cut of name (12)" for each kind, those that lose most first. */
function describeWorstLosses(losses: readonly Loss[]): string[] {
  const list = [...losses].sort((a, b) => b.count - a.count);
  const named = list
    .slice(0, maxListedKinds)
    .map(({ code, field, count }) => `${code}${field === undefined ? "" : ` of ${field}`} (${count})`);
  return list.length > maxListedKinds ? [...named, formatCount(list.length - maxListedKinds, "more kind")] : named;
}
