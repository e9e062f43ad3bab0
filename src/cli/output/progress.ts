import { groupDigits } from "../../format-count.js";
import type { Progress } from "../../pipeline/request.js";

const verbs = { download: "downloading", scan: "scanning", convert: "converting", verify: "verifying" } as const;

/** "12.3 MB" */
export function bytes(count: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

function duration(seconds: number): string {
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

/** Phase, count, rate, percentage and time left. */
export function progressLine(progress: Progress, elapsed: number): string {
  const { done, total, features, phase } = progress;
  const parts: string[] = [verbs[phase]];
  if (features > 0) parts.push(`${groupDigits(features)} features`);
  if (elapsed > 0.5 && done > 0) parts.push(`${bytes(done / elapsed)}/s`);
  if (total > 0) {
    const share = Math.min(1, done / total);
    parts.push(`${Math.floor(share * 100)} %`);
    if (share > 0.02 && elapsed > 2) parts.push(`${duration((elapsed / share) * (1 - share))} left`);
  } else if (done > 0) parts.push(bytes(done));
  return parts.join(", ");
}

/**
 * Shows progress: a line that is updated on a terminal, or else one line per minute.
 * @param stream usually stderr
 */
export class ProgressDisplay {
  /** Seconds of process uptime. */
  private readonly started = process.uptime();
  private lastShown = this.started;
  private shownLine = false;

  constructor(private readonly stream: { readonly isTTY?: boolean; write(text: string): unknown }) {}

  readonly update = (progress: Progress): void => this.show((elapsed) => progressLine(progress, elapsed));

  /** @param lineAt formats the line from the elapsed seconds; called only when a line is due */
  show(lineAt: (elapsed: number) => string): void {
    const now = process.uptime();
    const interval = this.stream.isTTY ? 0.2 : 60;
    if (now - this.lastShown < interval) return;
    this.lastShown = now;
    const line = lineAt(now - this.started);
    this.stream.write(this.stream.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
    this.shownLine = true;
  }

  clear(): void {
    if (this.shownLine && this.stream.isTTY) this.stream.write("\r\u001b[K");
    this.shownLine = false;
  }
}
