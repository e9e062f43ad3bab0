/** Counts irregularities and losses by their codes, to report each once for many features. */
import type { ReadContext } from "../../../src/plugin/format.js";

export class CountedReports<Notice extends string, Loss extends string> {
  private readonly notices = new Map<Notice, number>();
  private readonly losses = new Map<Loss, number>();

  constructor(
    protected readonly context: Pick<ReadContext, "reportLoss" | "reportNotice">,
    private readonly noticeMessages: Readonly<Record<Notice, string>>,
    private readonly lossMessages: Readonly<Record<Loss, string>>,
  ) {}

  notice(code: Notice): void {
    this.notices.set(code, (this.notices.get(code) ?? 0) + 1);
  }

  loss(code: Loss, count = 1): void {
    if (count > 0) this.losses.set(code, (this.losses.get(code) ?? 0) + count);
  }

  /** Reports a value of a point that is left out. */
  valueLeftOut(name: string): void {
    const example = "values of points with more than 256 names, or repeated ones, were left out";
    this.context.reportLoss("point-values-left-out", name, example);
  }

  /** Reports what was counted, and begins again. */
  report(): void {
    const { context } = this;
    for (const [code, count] of this.notices) context.reportNotice(code, undefined, this.noticeMessages[code], count);
    for (const [code, count] of this.losses) context.reportLoss(code, undefined, this.lossMessages[code], count);
    this.notices.clear();
    this.losses.clear();
  }
}
