import { describe, expect, test } from "vitest";
import { ProgressDisplay, progressLine, progressRecord } from "../../../src/cli/output/progress.js";
import type { ProgressMode } from "../../../src/cli/output/progress-modes.js";

/** A display on a stream, with a clock that the test sets. */
function display(mode: ProgressMode, isTTY: boolean) {
  const written: string[] = [];
  const clock = { now: 100 };
  const stream = { isTTY, write: (text: string) => written.push(text) };
  return { shown: new ProgressDisplay(stream, mode, () => clock.now), written, clock };
}

const converting = {
  phase: "converting",
  done: 30_000_000,
  total: 120_000_000,
  unit: "bytes",
  features: 5000,
} as const;

describe("a line", () => {
  test("has the phase, the count, the rate, the share and the time left", () => {
    // 30 of 120 MB in 10 s: 3 MB/s, so that the other 90 MB take 30 s.
    expect(progressLine(converting, 10)).toBe("converting, 5,000 features, 3.0 MB/s, 25 %, 30 s left");
  });

  test("counts features where a service does not say how many there are", () => {
    const state = { phase: "reading the map", done: 4000, total: null, unit: "features" } as const;
    expect(progressLine(state, 4)).toBe("reading the map, 4,000 features, 1,000/s");
  });

  test("counts features of a known number", () => {
    const state = { phase: "creating", done: 250, total: 1000, unit: "features" } as const;
    expect(progressLine(state, 5)).toBe("creating, 250 of 1,000 features, 50/s, 25 %, 15 s left");
  });

  test("says nothing about the rest before it can", () => {
    expect(progressLine(converting, 0.1)).toBe("converting, 5,000 features, 25 %");
    expect(progressLine({ ...converting, done: 1000 }, 10)).not.toContain("left");
  });
});

test("a record has the same as numbers", () => {
  expect(progressRecord(converting, 10)).toEqual({
    type: "progress",
    phase: "converting",
    done: 30_000_000,
    total: 120_000_000,
    unit: "bytes",
    features: 5000,
    rate: 3_000_000,
    share: 0.25,
    secondsLeft: 30,
    elapsed: 10,
  });
});

describe("a display", () => {
  test("updates one line on a terminal", () => {
    const { shown, written, clock } = display("auto", true);
    shown.show(converting);
    expect(written).toEqual([]);
    clock.now += 0.3;
    shown.show(converting);
    shown.show(converting);
    expect(written).toHaveLength(1);
    expect(written[0]!.startsWith("\r\u001b[Kconverting")).toBe(true);
    shown.clear();
    expect(written.at(-1)).toBe("\r\u001b[K");
  });

  test("writes a plain line per minute elsewhere", () => {
    const { shown, written, clock } = display("auto", false);
    for (let second = 0; second < 130; second++, clock.now++) shown.show(converting);
    expect(written).toHaveLength(2);
    expect(written.join("")).not.toContain("\u001b");
    expect(written[0]).toMatch(/^converting.*\n$/);
  });

  test("writes a record per second on request", () => {
    const { shown, written, clock } = display("json", true);
    for (let half = 0; half < 9; half++, clock.now += 0.5) shown.show(converting);
    expect(written).toHaveLength(4);
    for (const line of written) expect(JSON.parse(line)).toMatchObject({ type: "progress", phase: "converting" });
  });

  test("measures the rate from the beginning of a phase", () => {
    const { shown, written, clock } = display("json", false);
    shown.show({ ...converting, phase: "scanning" });
    clock.now += 100;
    // The scan has counted 30 MB of 120 MB; the conversion reads 30 MB in 10 s.
    shown.show(converting);
    clock.now += 10;
    shown.show({ ...converting, done: 60_000_000 });
    expect(JSON.parse(written.at(-1)!)).toMatchObject({ elapsed: 10, rate: 3_000_000, share: 0.5, secondsLeft: 20 });
  });

  test("shows nothing if it should not", () => {
    const { shown, written, clock } = display("none", true);
    clock.now += 100;
    shown.show(converting);
    expect(written).toEqual([]);
    expect(shown.callback).toBeUndefined();
  });
});
