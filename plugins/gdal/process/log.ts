import { readFileSync } from "node:fs";

const maxWarnings = 50;
const isError = (line: string): boolean => line.startsWith("ERROR ");

/** GDAL's errors and warnings, from the file that the variable `CPL_LOG` names. Runs in the GDAL process. */
export class GdalLog {
  private position = 0;
  private kept: string[] = [];

  /** The errors since the last call of any method; warnings stay for `takeAll`. */
  takeErrors(): string[] {
    const lines = this.newLines();
    this.kept.push(...lines.filter((line) => !isError(line)));
    return lines.filter(isError);
  }

  /** All that was not taken yet, without repetitions. */
  takeAll(): string[] {
    const lines = [...this.kept, ...this.newLines()];
    this.kept = [];
    return [...new Set(lines)].slice(0, maxWarnings);
  }

  private newLines(): string[] {
    const path = process.env.CPL_LOG;
    if (!path) return [];
    let log: Buffer;
    try {
      log = readFileSync(path);
    } catch {
      return [];
    }
    const lines = log.subarray(this.position).toString("utf8").split("\n");
    this.position = log.length;
    return lines.map((line) => line.trim()).filter((line) => /^(Warning|ERROR) \d+: /.test(line));
  }
}
