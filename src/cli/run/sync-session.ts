/** Opens a map for the sync commands, with a progress display. */

import { createError } from "../../errors.js";
import { resolveMapId } from "../../remote/client/resolve-map-id.js";
import type { ApplyProgress } from "../../sync/apply/apply-context.js";
import { resolveStateRoot } from "../../sync/state/state-folder.js";
import { openReadonlySyncRun, type ReadonlySyncRun, type SyncContext, SyncRun } from "../../sync/sync-run.js";
import type { CommonArguments } from "../command.js";
import { openHost } from "../host.js";
import { openService, type ServiceArguments } from "../options/service-options.js";
import { printNotice } from "../output/print.js";
import { ProgressDisplay } from "../output/progress.js";
import { renderLeftOut } from "../output/render.js";
import { interrupted } from "../signals.js";

export interface SessionArguments extends ServiceArguments {
  readonly state?: string;
  readonly backup?: string;
}

const steps: Readonly<Record<ApplyProgress["step"], string>> = {
  backup: "backing up",
  create: "creating",
  update: "updating",
  read: "reading the map again",
  delete: "deleting",
};

export interface SyncSession<Run extends ReadonlySyncRun> extends AsyncDisposable {
  readonly run: Run;
  readonly display: ProgressDisplay;
}

type MapArguments = SessionArguments & CommonArguments;

/** A map by the id or name that the user gave, or by the id in a plan or backup. */
export type GivenMap = { readonly given: string } | { readonly id: string };

/** @throws map-locked, remote-unknown, remote-map-ambiguous, option-invalid, output-failed … */
export const openSession = (args: MapArguments, map: GivenMap): Promise<SyncSession<SyncRun>> =>
  session(args, map, SyncRun.open);

/** Opens a map without a lock, for reading. @throws remote-unknown, remote-map-ambiguous, option-invalid, output-failed … */
export const openReadingSession = (args: MapArguments, map: GivenMap): Promise<SyncSession<ReadonlySyncRun>> =>
  session(args, map, openReadonlySyncRun);

async function session<Run extends ReadonlySyncRun>(
  args: MapArguments,
  map: GivenMap,
  open: (tools: SyncContext, map: string) => Promise<Run>,
): Promise<SyncSession<Run>> {
  const display = ProgressDisplay.of(args);
  /** Features of the map, once it was read. */
  let mapFeatures: number | null = null;
  const { service, traffic } = await openService(args);
  const run = await open(
    {
      host: { ...(await openHost(args, display.callback)), onLeftOut: (paths) => renderLeftOut(paths, args) },
      service,
      traffic,
      stateRoot: resolveStateRoot(args.state, process.env),
      backupPath: args.backup ?? null,
      onNotice: (sentence) => printNotice(args, sentence),
      ...(display.isShown && {
        onSnapshotProgress: ({ features, pass }) => {
          if (pass === 1) mapFeatures = features;
          const phase = `${pass === 1 ? "reading" : "comparing"} the map`;
          display.show({ phase, done: features, total: pass === 1 ? null : mapFeatures, unit: "features" });
        },
        onApplyProgress: ({ step, done, total }) => display.show({ phase: steps[step], done, total, unit: "features" }),
      }),
    },
    "id" in map ? map.id : await resolveMapId(service, map.given),
  );
  return {
    run,
    display,
    async [Symbol.asyncDispose]() {
      display.clear();
      await run[Symbol.asyncDispose]();
    },
  };
}

/**
 * Prompts on a terminal. Without one, guards alone decide.
 * @param question a yes/no question @throws interrupted
 */
export async function confirmed(question: string, { yes }: { readonly yes?: boolean }): Promise<boolean> {
  if (yes || !process.stdin.isTTY || !process.stderr.isTTY) return true;
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal: interrupted })).trim());
  } catch (error) {
    throw createError("interrupted", {}, error);
  } finally {
    terminal.close();
  }
}
