/** The samples for programs that run jobs at set times. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { hasProgram, samples } from "../support/command.js";
import { JobFixture, pointsCsv } from "../support/jobs/job-fixture.js";

const desk = new JobFixture();
const { at, put } = desk;

describe("the examples for schedulers", () => {
  const text = (name: string) => readFileSync(join(samples, "jobs", name), "utf8");
  /** The words of a shell command without quotes. */
  const commandIn = (line: string): string[] => line.slice(line.indexOf("geoferry run")).trim().split(/\s+/).slice(1);

  test.each([
    [
      "crontab",
      () =>
        text("crontab")
          .split("\n")
          .find((line) => line.includes("geoferry run"))!,
    ],
    [
      "Airflow",
      () => {
        const [, command, alternative] = /bash_command="(.*) \|\| (.*)"/.exec(text("airflow_dag.py"))!;
        // Bash takes the status of a run with rejected features for success, and no other.
        for (const [status, expected] of [
          [5, 0],
          [4, 1],
        ])
          expect(spawnSync("bash", ["-c", `(exit ${status}) || ${alternative}`]).status).toBe(expected);
        return command!;
      },
    ],
    ["GitHub", () => /run: (geoferry run .*)$/m.exec(text("github-actions.yaml"))![1]!],
    ["systemd", () => /^ExecStart=(.*)$/m.exec(text("geoferry-nightly.service"))![1]!],
    [
      "Kubernetes",
      () => {
        const [cronJob] = parseAllDocuments(text("kubernetes-cronjob.yaml"));
        return (cronJob!.toJS().spec.jobTemplate.spec.template.spec.containers[0].args as string[]).join(" ");
      },
    ],
  ])("%s contains a valid command", async (_, line) => {
    put("a.csv", pointsCsv("a"));
    put("nightly.yaml", "name: n\nsteps:\n  - {name: a, source: a.csv, target: a.geojson}\n");
    const [command, , ...flags] = commandIn(line());
    expect(command).toBe("run");
    const paths: Readonly<Record<string, string>> = { "--metrics": "m.prom", "--state": "s", "--page": "p.html" };
    const own = flags.map((word, n) => (paths[flags[n - 1]!] ? at(paths[flags[n - 1]!]!) : word));
    const state = own.includes("--state") ? [] : ["--state", at("s")];
    expect((await desk.run("nightly.yaml", [...own, ...state], {})).status).toBe(0);
    expect(existsSync(at("a.geojson"))).toBe(true);
  });

  test("the timer and its unit have the keys that systemd requires", () => {
    expect(text("geoferry-nightly.timer")).toMatch(/\[Timer\]\nOnCalendar=/);
    expect(text("geoferry-nightly.service")).toMatch(/\[Service\]\nType=oneshot/);
  });

  test.runIf(hasProgram("systemd-analyze"))("the units are accepted by systemd-analyze", () => {
    const units = ["geoferry-nightly.service", "geoferry-nightly.timer", "geoferry-worker.service"];
    for (const name of units) put(name, text(name));
    const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", ...units.map(at)], { encoding: "utf8" });
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: "" });
  });

  test.runIf(hasProgram("python3"))("the DAG is valid Python", () => {
    const check = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
    const { stderr } = spawnSync("python3", ["-c", check, join(samples, "jobs/airflow_dag.py")], { encoding: "utf8" });
    expect(stderr).toBe("");
  });
});
