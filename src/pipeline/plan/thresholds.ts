/** Limits of losses and rejects beyond which a conversion fails and writes nothing. */

import { createError } from "../../errors.js";
import { formatCount } from "../../format-count.js";
import type { Loss } from "../../model/report.js";
import type { ReportBuilder } from "../report.js";
import type { ConvertRequest } from "../request.js";

/** A parsed limit: `12` or `5%`. */
export interface Threshold {
  readonly text: string;
  readonly maxCount: number;
  readonly maxShare: number;
}

/** @param option the flag, for messages @returns null if there is no limit @throws option-invalid */
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

/** Whether `found` of `all` features exceeds the limit. */
const exceedsThreshold = ({ maxCount, maxShare, text }: Threshold, found: number, all: number): boolean =>
  text.endsWith("%") ? found > maxShare * all : found > maxCount;

/** The limits that are checked after everything was read. */
const thresholds = [
  {
    option: "--max-losses",
    optionOf: ({ maxLosses }: ConvertRequest) => maxLosses,
    found: ({ losses }: ReportBuilder) => losses.list().reduce((sum, { count }) => sum + count, 0),
    all: ({ read }: ReportBuilder) => read,
    refusal: (count: number, limit: string, { losses }: ReportBuilder) =>
      createError("guard-losses", { count, limit, examples: describeWorstLosses(losses.list()) }),
  },
  {
    option: "--max-without-geometry",
    optionOf: ({ maxWithoutGeometry }: ConvertRequest) => maxWithoutGeometry,
    found: ({ withoutGeometry }: ReportBuilder) => withoutGeometry,
    all: ({ writtenFeatures }: ReportBuilder) => writtenFeatures,
    refusal: (count: number, limit: string) => createError("guard-without-geometry", { count, limit }),
  },
] as const;

/** @throws guard-decrease */
function enforceDecrease({ decrease }: ConvertRequest, { read }: ReportBuilder): void {
  if (decrease === undefined) return;
  const { max, before } = decrease;
  const limit = parseThreshold("maxDecrease", max);
  if (limit && exceedsThreshold(limit, before - read, before))
    throw createError("guard-decrease", { read, before, limit: max });
}

/** @throws option-invalid */
export function checkThresholdOptions(request: ConvertRequest): void {
  parseThreshold("--max-rejects", request.maxRejects);
  for (const { option, optionOf } of thresholds) parseThreshold(option, optionOf(request));
}

/** @throws guard-decrease, guard-losses, guard-without-geometry */
export function enforceThresholds(request: ConvertRequest, reportBuilder: ReportBuilder): void {
  enforceDecrease(request, reportBuilder);
  for (const { option, optionOf, found, all, refusal } of thresholds) {
    const limit = parseThreshold(option, optionOf(request));
    if (limit === null) continue;
    const count = found(reportBuilder);
    if (exceedsThreshold(limit, count, all(reportBuilder))) throw refusal(count, limit.text, reportBuilder);
  }
}

/** Maximum number of kinds of loss in a message. */
const maxListedKinds = 5;

/** "text-cut of name (12)" for each kind, the most frequent first. */
function describeWorstLosses(losses: readonly Loss[]): string[] {
  const list = [...losses].sort((a, b) => b.count - a.count);
  const named = list
    .slice(0, maxListedKinds)
    .map(({ code, field, count }) => `${code}${field === undefined ? "" : ` of ${field}`} (${count})`);
  return list.length > maxListedKinds ? [...named, formatCount(list.length - maxListedKinds, "more kind")] : named;
}
