/** Dispatches a conversion step: this process decides which outputs are due and enqueues one job for each. */
import pLimit from "p-limit";
import { asGeoferryError, createError } from "../../../errors.js";
import { redactInputs } from "../../../io/redact.js";
import { withAbort } from "../../../io/with-abort.js";
import { planConversions } from "../../../pipeline/convert-many.js";
import type { ConvertRequest, Host } from "../../../pipeline/request.js";
import type { ConversionStep, SyncStep } from "../../job.js";
import { upToDateRecord } from "../../steps/conversion-record.js";
import type { OutputRecords, OutputResult } from "../../steps/convert-step.js";
import { chunkFolder, removeChunks } from "../chunk-files.js";
import { toInputNames, toSourceFileStats } from "../input-names.js";
import { errorFromFailure } from "../job-payload.js";
import { workQueueName } from "../queue-names.js";
import { dispatchDependent } from "./dispatch-sync.js";
import type { DistributedRun } from "./distributed-run.js";
import type { JobEntry } from "./job-dispatcher.js";

const concurrentDecisions = 16;
const jobsPerMessage = 100;

interface DueConversion {
  readonly input: string;
  readonly output: string;
  readonly entry: JobEntry;
}

/**
 * @param dependent a sync step that workers may start as soon as all jobs of this step are done
 * @throws what `convertMany` throws before its first conversion
 */
export async function dispatchConversion(
  distributedRun: DistributedRun,
  step: ConversionStep,
  host: Host,
  records: OutputRecords,
  dependent: SyncStep | null,
): Promise<readonly OutputResult[]> {
  const { signal } = host;
  const { request, conversions, failed } = await planConversions(step.request, host);
  const finished: OutputResult[] = failed.map(({ input, output, error }) => ({
    input,
    output,
    record: null,
    error: error!,
  }));
  const limit = pLimit(concurrentDecisions);
  const awaited: Promise<OutputResult>[] = [];
  const unsent: DueConversion[] = [];
  const dispatched: DueConversion[] = [];
  const track = (batch: readonly DueConversion[]) => {
    awaited.push(...batch.map((due) => awaitResult(distributedRun, step.name, due, records, signal)));
    dispatched.push(...batch);
    recordDispatched(distributedRun, step, batch, records);
  };
  const send = async (batch: readonly DueConversion[]) => {
    for (let from = 0; from < batch.length; from += jobsPerMessage) {
      const some = batch.slice(from, from + jobsPerMessage);
      track(some);
      await withAbort(distributedRun.dispatcher.add(some.map(({ entry }) => entry)), signal);
    }
  };
  try {
    const decided = await Promise.all(
      conversions.map(({ inputs, output }) =>
        limit(async () => {
          const one = { ...request, inputs, output };
          const due = await decide(distributedRun, step, one, records, signal);
          if ("record" in due) return due;
          unsent.push(due);
          // A dependent needs all jobs in one flow, or it might start before the last ones are added.
          if (dependent === null && unsent.length >= jobsPerMessage) await send(unsent.splice(0));
          return null;
        }),
      ),
    );
    finished.push(...decided.filter((one) => one !== null));
    if (dependent !== null && unsent.length > 0 && finished.every(({ record }) => record)) {
      track(unsent);
      const entries = unsent.map(({ entry }) => entry);
      await withAbort(dispatchDependent(distributedRun, dependent, entries), signal);
    } else await send(unsent);
    finished.push(...(await Promise.all(awaited)));
  } finally {
    await Promise.allSettled(awaited);
    if (signal.aborted) {
      // Before the files that it waits for are removed: a worker would start it.
      if (dependent) await distributedRun.cancelDependent(dependent.name);
      await distributedRun.cancelStep(step.name);
      for (const { output, entry } of dispatched) removeChunks(chunkFolder(output, entry.id));
    }
  }
  const order = new Map(conversions.map(({ output }, index) => [output, index]));
  return finished.sort((a, b) => (order.get(a.output) ?? -1) - (order.get(b.output) ?? -1));
}

function recordDispatched(
  distributedRun: DistributedRun,
  step: ConversionStep,
  batch: readonly DueConversion[],
  { describe }: OutputRecords,
): void {
  const outputs = batch.map(({ output }) => ({ output, record: describe(output) }));
  distributedRun.options.state.saveDispatched(step.name, outputs);
}

async function decide(
  distributedRun: DistributedRun,
  step: ConversionStep,
  request: ConvertRequest,
  records: OutputRecords,
  signal: AbortSignal,
): Promise<DueConversion | OutputResult> {
  const { output } = request;
  const { registry } = distributedRun.options.host;
  const input = redactInputs(request.inputs, registry);
  try {
    signal.throwIfAborted();
    const decided = await records.decide(request);
    if (decided === null) {
      return { input, output, record: upToDateRecord };
    }
    const entry = distributedRun.createEntry(
      step,
      workQueueName,
      {
        kind: "conversion",
        inputs: toInputNames(decided.inputs, step.request.inputs, registry),
        output: output === step.request.output ? null : output,
        overwrite: decided.overwrite ?? false,
        sources: toSourceFileStats(records.describe(output).sources, registry),
      },
      input,
    );
    return { input, output, entry };
  } catch (error) {
    const failure = signal.aborted ? createError("interrupted", {}, error) : asGeoferryError(error);
    return { input, output, record: null, error: failure };
  }
}

/** Never throws. */
async function awaitResult(
  distributedRun: DistributedRun,
  step: string,
  { input, output, entry }: DueConversion,
  records: OutputRecords,
  signal: AbortSignal,
): Promise<OutputResult> {
  let finished: OutputResult;
  try {
    const outcome = await distributedRun.waitFor(entry, signal);
    if ("returnValue" in outcome) {
      const { worker, converted } = outcome.returnValue;
      if (!converted) throw createError("queue-job-damaged", { what: entry.label, reason: "its result is missing" });
      finished = { input, output, worker, record: converted, digests: converted.digests };
    } else {
      const { failure } = outcome;
      const { worker, code, kind } = failure;
      if (code !== "worker-lost" && kind !== "unknown-outcome")
        distributedRun.options.state.deleteDispatched(step, output);
      finished = {
        input,
        output,
        record: null,
        error: errorFromFailure(failure),
        ...(worker === null ? {} : { worker }),
      };
    }
    records.save(finished);
    // Only after saving: until then, the next run would recover the result from the queue.
    distributedRun.dispatcher.removeJobs([entry]);
    return finished;
  } catch (error) {
    return { input, output, record: null, error: asGeoferryError(error) };
  }
}
