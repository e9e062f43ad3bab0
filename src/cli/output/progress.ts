import { createError } from "../../errors.js";
import { groupDigits } from "../../format-count.js";
import type { Progress } from "../../pipeline/request.js";
import type { CommonArguments } from "../command.js";
import { type ProgressMode, progressModes } from "./progress-modes.js";

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

/** How far a command is. */
export interface ProgressState {
  /** What it does: "reading the map". */
  readonly phase: string;
  /** Done so far, and in total; null if unknown. */
  readonly done: number;
  readonly total: number | null;
  readonly unit: "bytes" | "features" | "files";
  /** Features so far, if bytes are counted. */
  readonly features?: number;
  /** What else to say: the workers of a job. */
  readonly note?: string;
}

/** Rate per second, share of the whole and seconds left; null if unknown. */
interface Estimate {
  readonly rate: number | null;
  readonly share: number | null;
  readonly secondsLeft: number | null;
}

/** The first seconds of a phase say nothing about its rate, and the first hundredths nothing about the rest. */
const [minRateSeconds, minLeftSeconds, minLeftShare] = [0.5, 2, 0.02];

/** @param before done when the phase began */
function estimate({ done, total }: ProgressState, elapsed: number, before: number): Estimate {
  const share = total === null || total === 0 ? null : Math.min(1, done / total);
  const rate = elapsed > minRateSeconds && done > before ? (done - before) / elapsed : null;
  const isLeftKnown = share !== null && share > minLeftShare && elapsed > minLeftSeconds && rate !== null;
  return { rate, share, secondsLeft: isLeftKnown ? Math.max(0, total! - done) / rate : null };
}

/**
 * Phase, count, rate, percentage and time left.
 * @param elapsed seconds since the phase began
 * @param before done when it began, if it goes on counting
 */
export function progressLine(state: ProgressState, elapsed: number, before = 0): string {
  const { phase, done, total, unit, features = 0, note } = state;
  const { rate, share, secondsLeft } = estimate(state, elapsed, before);
  const parts: string[] = [phase];
  if (features > 0) parts.push(`${groupDigits(features)} features`);
  if (unit !== "bytes" && (done > 0 || total !== null))
    parts.push(
      total === null ? `${groupDigits(done)} ${unit}` : `${groupDigits(done)} of ${groupDigits(total)} ${unit}`,
    );
  if (rate !== null) parts.push(unit === "bytes" ? `${bytes(rate)}/s` : `${groupDigits(Math.round(rate))}/s`);
  if (share !== null) parts.push(`${Math.floor(share * 100)} %`);
  else if (unit === "bytes" && done > 0) parts.push(bytes(done));
  if (secondsLeft !== null) parts.push(`${duration(secondsLeft)} left`);
  if (note) parts.push(note);
  return parts.join(", ");
}

/** The same as a record of `--progress json`. */
export function progressRecord(state: ProgressState, elapsed: number, before = 0): Readonly<Record<string, unknown>> {
  const { phase, done, total, unit, features, note } = state;
  const rounded = (value: number | null, decimals: number) => (value === null ? null : Number(value.toFixed(decimals)));
  const { rate, share, secondsLeft } = estimate(state, elapsed, before);
  return {
    type: "progress",
    ...{ phase, done, total, unit },
    ...(features === undefined ? {} : { features }),
    ...{ rate: rounded(rate, 1), share: rounded(share, 4), secondsLeft: rounded(secondsLeft, 1) },
    elapsed: rounded(elapsed, 1),
    ...(note ? { note } : {}),
  };
}

const stateOf = ({ done, total, features, phase }: Progress): ProgressState => {
  // Features of an unknown number are counted where the bytes are unknown: of services and of outputs that are read again.
  if (done === 0 && total === 0) return { phase: verbs[phase], done: features, total: null, unit: "features" };
  return { phase: verbs[phase], done, total: total > 0 ? total : null, unit: "bytes", features };
};

/** The mode of `--progress`: without it, none with `--quiet` and `--json`. @throws option-invalid */
function progressMode({ progress, quiet, json }: CommonArguments): ProgressMode {
  if (progress === undefined) return quiet || json ? "none" : "auto";
  const mode = progressModes.find((one) => one === progress);
  if (mode) return mode;
  throw createError("option-invalid", {
    option: "--progress",
    value: progress,
    expected: `one of ${progressModes.join(", ")}`,
  });
}

interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Shows progress: a line that is updated on a terminal, or else one line per minute; on request one record per second.
 */
export class ProgressDisplay {
  private lastShown: number;
  private shownLine = false;
  private phase: string | null = null;
  private phaseStarted: number;
  private doneBefore = 0;

  /**
   * @param stream usually stderr
   * @param now seconds since any point in time
   */
  constructor(
    private readonly stream: ProgressStream,
    private readonly mode: ProgressMode = "auto",
    private readonly now: () => number = () => process.uptime(),
  ) {
    this.lastShown = now();
    this.phaseStarted = this.lastShown;
  }

  /** The display of a command on stderr. @throws option-invalid */
  static of(args: CommonArguments): ProgressDisplay {
    return new ProgressDisplay(process.stderr, progressMode(args));
  }

  /** Whether anything is shown; if not, commands need not count. */
  get isShown(): boolean {
    return this.mode !== "none";
  }

  /** The callback for conversions; undefined if nothing is shown. */
  get callback(): ((progress: Progress) => void) | undefined {
    return this.isShown ? (progress) => this.show(stateOf(progress)) : undefined;
  }

  show(state: ProgressState): void {
    if (!this.isShown) return;
    const now = this.now();
    if (state.phase !== this.phase) {
      // The first phase begins with the command.
      if (this.phase !== null) this.beginPhase(now, state.done);
      this.phase = state.phase;
    }
    // The next input counts from 0 again.
    if (state.done < this.doneBefore) this.beginPhase(now, state.done);
    const isJson = this.mode === "json";
    const interval = isJson ? 1 : this.stream.isTTY ? 0.2 : 60;
    if (now - this.lastShown < interval) return;
    this.lastShown = now;
    const elapsed = now - this.phaseStarted;
    if (isJson) {
      this.stream.write(`${JSON.stringify(progressRecord(state, elapsed, this.doneBefore))}\n`);
      return;
    }
    const line = progressLine(state, elapsed, this.doneBefore);
    this.stream.write(this.stream.isTTY ? `\r\u001b[K${line}` : `${line}\n`);
    this.shownLine = true;
  }

  private beginPhase(now: number, done: number): void {
    this.phaseStarted = now;
    this.doneBefore = done;
  }

  clear(): void {
    if (this.shownLine && this.stream.isTTY) this.stream.write("\r\u001b[K");
    this.shownLine = false;
  }
}
