/** Counts what is reported of the features of a split. */
import type { ReadContext } from "../../../src/plugin/format.js";

const noticeMessages = {
  "segment-empty": "a track segment without points was left out",
  "line-of-one-point": "a route or track of a single point became a point",
  "route-shape":
    "positions that Garmin's devices put between the points of a route (gpxx:rpt) are values of the points before them; --in routeShape=yes reads them into the line",
} as const;
const lossMessages = {
  "point-without-place": "a point of a line whose lat or lon is missing or not a number was left out",
  "degenerate-part": "a track segment of one point beside others was left out; only GPX can hold it",
  "height-invalid": "an ele that is not a number was left out",
  "extension-left-out": "extensions of a track segment that did not become a line were left out",
  "text-left-out":
    "text in a feature between its elements, where GPX does not allow it, was left out: a tag may be damaged there",
} as const;

export class FeatureReports {
  private readonly notices = new Map<keyof typeof noticeMessages, number>();
  private readonly losses = new Map<keyof typeof lossMessages, number>();

  constructor(private readonly context: ReadContext) {}

  notice(code: keyof typeof noticeMessages): void {
    this.notices.set(code, (this.notices.get(code) ?? 0) + 1);
  }

  loss(code: keyof typeof lossMessages, count = 1): void {
    this.losses.set(code, (this.losses.get(code) ?? 0) + count);
  }

  /** Reports a value of a point that is left out. */
  valueLeftOut(name: string): void {
    const example = "values of points with more than 256 names, or repeated ones, were left out";
    this.context.reportLoss("point-values-left-out", name, example);
  }

  /** Reports what was counted, at the end of a split. */
  report(): void {
    const { context } = this;
    for (const [code, count] of this.notices) context.reportNotice(code, undefined, noticeMessages[code], count);
    for (const [code, count] of this.losses) context.reportLoss(code, undefined, lossMessages[code], count);
    this.notices.clear();
    this.losses.clear();
  }
}
