/**
 * Runs a job of a GitHub workflow on this machine: local composite actions, expressions, environment files, and the
 * shell with the options that a runner gives it.
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

export interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly shell?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly "working-directory"?: string;
}

export interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

export interface Runner {
  /** The folder of the checkout. */
  readonly workspace: string;
  /** For files of the runner. */
  readonly temporary: string;
  readonly event: "pull_request" | "push";
  readonly vars?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, string>>;
  /** Everything that a step sees, before what the runner and the step add. */
  readonly env: NodeJS.ProcessEnv;
  /** Actions of other repositories, such as `actions/checkout`. */
  readonly actions: Readonly<Record<string, (inputs: Readonly<Record<string, string>>) => void>>;
}

export interface JobResult {
  readonly result: "success" | "failure";
  /** What the steps printed. */
  readonly log: string;
  /** Outputs of the composite actions, in order. */
  readonly outputs: readonly Readonly<Record<string, string>>[];
}

type Context = Readonly<Record<string, unknown>>;

function lookUp(path: string, context: Context): string {
  const value = path
    .split(".")
    .reduce<unknown>((found, name) => (found as Record<string, unknown> | undefined)?.[name], context);
  if (typeof value !== "string") throw new Error(`the expression ${path} has no value`);
  return value;
}

const evaluate = (text: string, context: Context): string =>
  text.replace(/\$\{\{\s*([\w.-]+)\s*\}\}/g, (_, path: string) => lookUp(path, context));

const evaluateAll = (texts: Readonly<Record<string, string>> = {}, context: Context): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, evaluate(text, context)]));

/** `name == 'text'` */
function isTrue(condition: string, context: Context): boolean {
  const comparison = /^([\w.]+) == '([^']*)'$/.exec(condition);
  if (!comparison) throw new Error(`the condition ${condition} is not supported`);
  return lookUp(comparison[1]!, context) === comparison[2];
}

/** `name=value` lines. */
const parseOutputs = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^([^=\n]+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));

/** Runs the steps of the first job; the first that fails ends it. */
export function runWorkflow(text: string, runner: Runner): JobResult {
  const { jobs } = parse(text) as { jobs: Record<string, { steps: readonly Step[] }> };
  const github = { event_name: runner.event };
  const context = { github, vars: runner.vars ?? {}, secrets: runner.secrets ?? {} };
  const outputs: Record<string, string>[] = [];
  const lines: string[] = [];

  function runShell(step: Step, own: Context, env: Readonly<Record<string, string>>) {
    const folder = mkdtempSync(join(runner.temporary, "step-"));
    const [script, output] = [join(folder, "script.sh"), join(folder, "output")];
    writeFileSync(script, evaluate(step.run!, own));
    appendFileSync(output, "");
    if (step.shell !== "bash") throw new Error(`a step of an action requires a shell, and this test has bash only`);
    const { status, stdout, stderr } = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", script], {
      cwd: join(runner.workspace, evaluate(step["working-directory"] ?? ".", own)),
      env: {
        ...runner.env,
        ...env,
        ...evaluateAll(step.env, own),
        CI: "true",
        GITHUB_OUTPUT: output,
        GITHUB_WORKSPACE: runner.workspace,
        RUNNER_TEMP: runner.temporary,
      },
      encoding: "utf8",
    });
    lines.push(stdout, stderr);
    return { succeeded: status === 0, outputs: parseOutputs(readFileSync(output, "utf8")) };
  }

  function runAction(step: Step, outer: Context, env: Readonly<Record<string, string>>): boolean {
    const given = evaluateAll(step.with, outer);
    const foreign = runner.actions[step.uses!.replace(/@.*$/, "")];
    if (foreign) {
      foreign(given);
      return true;
    }
    const path = join(runner.workspace, step.uses!);
    const action = parse(readFileSync(join(path, "action.yml"), "utf8")) as Action;
    const unknown = Object.keys(given).filter((name) => !Object.hasOwn(action.inputs, name));
    if (unknown.length > 0) throw new Error(`the action has no input ${unknown.join(", ")}`);
    const inputs = Object.fromEntries(
      Object.entries(action.inputs).map(([name, input]) => [name, given[name] ?? input.default]),
    );
    const steps: Record<string, { outputs: Record<string, string> }> = {};
    const own = { inputs, steps, github: { ...github, action_path: path } };
    for (const inner of action.runs.steps) {
      if (inner.uses) {
        if (!runAction(inner, own, env)) return false;
        continue;
      }
      const done = runShell(inner, own, env);
      if (inner.id) steps[inner.id] = { outputs: done.outputs };
      if (!done.succeeded) return false;
    }
    const values = Object.entries(action.outputs).map(([name, { value }]) => [name, value]);
    outputs.push(evaluateAll(Object.fromEntries(values), own));
    return true;
  }

  for (const step of Object.values(jobs)[0]!.steps) {
    if (step.if !== undefined && !isTrue(step.if, context)) continue;
    if (!runAction(step, context, evaluateAll(step.env, context)))
      return { result: "failure", log: lines.join(""), outputs };
  }
  return { result: "success", log: lines.join(""), outputs };
}
