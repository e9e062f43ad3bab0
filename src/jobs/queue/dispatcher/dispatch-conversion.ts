/** A step whose files workers convert: what is to be done is decided here, and one job handed out for each output. */
import pLimit from "p-limit";
import { asGeoferryError, createError } from "../../../errors.js";
import { redactInputs } from "../../../io/redact.js";
import { planConversions } from "../../../pipeline/convert-many.js";
import type { ConvertRequest, Host } from "../../../pipeline/request.js";
import type { ConversionStep, SyncStep } from "../../job.js";
import { upToDateRecord } from "../../steps/conversion-record.js";
import type { OutputRecords, OutputResult } from "../../steps/convert-step.js";
import { chunkFolder, removeChunks } from "../chunk-files.js";
import { toInputNames, toStarterStats } from "../input-names.js";
import { errorFromFailure } from "../job-payload.js";
import { workQueueName } from "../queue-names.js";
import { withAbort } from "../with-abort.js";
import { dispatchDependent } from "./dispatch-sync.js";
import type { DistributedRun } from "./distributed-run.js";
import type { JobEntry } from "./job-dispatcher.js";

/** So many outputs are decided about at a time. */
const concurrentDecisions = 16;
/** So many jobs go to Redis in one message. */
const jobsPerMessage = 100;

interface DueConversion {
  readonly input: string;
  readonly output: string;
  readonly entry: JobEntry;
}

/**
 * @param rider a step that workers may do as soon as all of this one's jobs are done
 * @throws what `convertMany` throws before it begins
 */
export async function dispatchConversion(
  handOut: DistributedRun,
  step: ConversionStep,
  host: Host,
  books: OutputRecords,
  rider: SyncStep | null,
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
  const held: DueConversion[] = [];
  const handed: DueConversion[] = [];
  const expect = (dues: readonly DueConversion[]) => {
    awaited.push(...dues.map((due) => awaitResult(handOut, due, books, signal)));
    handed.push(...dues);
    recordDispatched(handOut, step, dues, books);
  };
  const send = async (dues: readonly DueConversion[]) => {
    for (let from = 0; from < dues.length; from += jobsPerMessage) {
      const some = dues.slice(from, from + jobsPerMessage);
      expect(some);
      await withAbort(handOut.dispatcher.add(some.map(({ entry }) => entry)), signal);
    }
  };
  try {
    const decided = await Promise.all(
      conversions.map(({ inputs, output }) =>
        limit(async () => {
          const one = { ...request, inputs, output };
          const due = await decide(handOut, step, one, books, signal);
          if ("record" in due) return due;
          held.push(due);
          // With a rider all go at once, or it might go before some are there.
          if (rider === null && held.length >= jobsPerMessage) await send(held.splice(0));
          return null;
        }),
      ),
    );
    finished.push(...decided.filter((one) => one !== null));
    if (rider !== null && held.length > 0 && finished.every(({ record }) => record)) {
      expect(held);
      const entries = held.map(({ entry }) => entry);
      await withAbort(dispatchDependent(handOut, rider, entries), signal);
    } else await send(held);
    finished.push(...(await Promise.all(awaited)));
  } finally {
    await Promise.allSettled(awaited);
    if (signal.aborted) {
      await handOut.cancelStep(step.name);
      for (const { output, entry } of handed) removeChunks(chunkFolder(output, entry.id));
    }
  }
  const order = new Map(conversions.map(({ output }, index) => [output, index]));
  return finished.sort((a, b) => (order.get(a.output) ?? -1) - (order.get(b.output) ?? -1));
}

function recordDispatched(
  handOut: DistributedRun,
  step: ConversionStep,
  dues: readonly DueConversion[],
  { describe }: OutputRecords,
): void {
  const outputs = dues.map(({ output }) => ({ output, readOutput: { ...describe(output), files: [] } }));
  handOut.options.state.saveDispatched(step.name, outputs);
}

async function decide(
  handOut: DistributedRun,
  step: ConversionStep,
  request: ConvertRequest,
  books: OutputRecords,
  signal: AbortSignal,
): Promise<DueConversion | OutputResult> {
  const { output } = request;
  const { registry } = handOut.options.host;
  const input = redactInputs(request.inputs, registry);
  try {
    signal.throwIfAborted();
    const decided = await books.decide(request);
    if (decided === null) {
      return { input, output, record: upToDateRecord };
    }
    const entry = handOut.createEntry(
      step,
      workQueueName,
      {
        kind: "conversion",
        inputs: toInputNames(decided.inputs, step.request.inputs, registry),
        output: output === step.request.output ? null : output,
        overwrite: decided.overwrite ?? false,
        sources: toStarterStats(books.describe(output).sources, registry),
      },
      input,
    );
    return { input, output, entry };
  } catch (error) {
    const told = signal.aborted ? createError("interrupted", {}, error) : asGeoferryError(error);
    return { input, output, record: null, error: told };
  }
}

/** Never throws. */
async function awaitResult(
  handOut: DistributedRun,
  { input, output, entry }: DueConversion,
  books: OutputRecords,
  signal: AbortSignal,
): Promise<OutputResult> {
  let finished: OutputResult;
  try {
    const ending = await handOut.dispatch(entry, signal);
    if ("answer" in ending) {
      const { worker, converted } = ending.answer;
      finished = { input, output, worker, record: converted!, digests: converted!.digests };
    } else {
      const { failure } = ending;
      const { worker } = failure;
      finished = {
        input,
        output,
        record: null,
        error: errorFromFailure(failure),
        ...(worker === null ? {} : { worker }),
      };
    }
    books.save(finished);
    // Not before: until it is kept, the next run would ask the queue what became of it.
    handOut.dispatcher.removeJob([entry]);
    return finished;
  } catch (error) {
    return { input, output, record: null, error: asGeoferryError(error) };
  }
}
